// SPDX-License-Identifier: BSD-3-Clause
// How many codes of each length a tree gives, none longer than 16 bits, and the first code of each length.
//
// Nodes of a level stand side by side (huffman_merge.sv), the root at the end, so one walk back over the nodes counts
// the leaves of every level. Then as repair_kraft() in src/core/stages/entropy/code_lengths.cpp, on counts instead of symbols:
// lengths grow with rank, and stay so while the rarest codes are lengthened and what is left over goes to the most
// frequent.
module length_counts (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic                                  start,
    input  logic [       neve_pkg::SYMBOL_BITS:0] used,         // leaves; with fewer than 2 there is no tree
    output logic [     neve_pkg::SYMBOL_BITS-1:0] node,
    input  logic [                           1:0] node_children,  // two cycles after its node
    output logic                                  done,
    // Valid from done to the next start; the counter of a length stands there two cycles after it.
    input  logic [      neve_pkg::LENGTH_BITS-1:0] length,
    output logic [       neve_pkg::SYMBOL_BITS:0] count,
    // The first code of each length, with its first bit highest; written before done.
    output logic                                  first_write,
    output logic [      neve_pkg::LENGTH_BITS-2:0] first_index,   // the length, 16 as 0
    output logic [neve_pkg::MAX_CODE_BITS-1:0]     first_code
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int L = neve_pkg::LENGTH_BITS;
  localparam int B = neve_pkg::MAX_CODE_BITS;
  localparam logic [L-1:0] LONGEST = L'(B);
  localparam logic [B:0] WHOLE = (B + 1)'(1) << B;

  // One place each, so that a state is one bit.
  localparam int IDLE = 0;
  localparam int CLEAR = 1;
  localparam int LEVELS = 2;
  localparam int LAST_LEVEL = 3;
  localparam int SUM_LOAD = 4;
  localparam int SUM_SHIFT = 5;
  localparam int WEIGH = 6;
  localparam int LENGTHEN_LOAD = 7;
  localparam int LENGTHEN_MOVE = 8;
  localparam int LENGTHEN_END = 9;
  localparam int SHORTEN_LOAD = 10;
  localparam int SHORTEN_WEIGH = 11;
  localparam int SHORTEN_PUT = 12;
  localparam int SHORTEN_TAKE = 13;
  localparam int SUM_START = 14;
  localparam int LENGTHEN_WEIGH = 15;
  localparam int SHORTEN_STEP = 16;
  localparam int SHORTEN_FETCH = 17;
  localparam int LEVELS_END = 18;
  localparam int SUM_END = 19;
  localparam int STATES = 20;
  logic [STATES-1:0] state = STATES'(1) << IDLE;
  logic [STATES-1:0] next_state;

  logic has_tree, is_single;

  // A counter for every length, that of 16 at 0.
  logic [S:0] counts[1 << (L - 1)];
  logic count_write;
  logic [L-1:0] at;  // the length at hand
  /* verilator lint_off UNUSEDSIGNAL */
  logic [L-1:0] read_length, write_length;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [S:0] read_count, write_count, write_more;
  assign read_count = counts[read_length[L-2:0]];
  // Written a cycle late, the sum of two.
  logic late_write;
  logic [L-2:0] late_index;
  logic [S:0] late_count, late_more;
  always_ff @(posedge clk) begin
    late_write <= count_write;
    late_index <= write_length[L-2:0];
    late_count <= write_count;
    late_more <= write_more;
    if (late_write) counts[late_index] <= late_count + late_more;
  end

  // Levels. A node's children come two cycles after its number.
  logic asks;
  logic [1:0] node_valid, node_is_last;
  logic [S-1:0] left_in_level;  // nodes, the one at hand included
  logic [S-1:0] nodes_below;
  logic [S:0] leaves_below, level_leaves, longest_leaves;
  logic level_ended;
  logic [S-1:0] nodes_sum;
  logic [S:0] leaves_sum;
  logic ends_level;
  logic [1:0] node_leaves;
  assign node_leaves = 2'd2 - node_children;
  assign nodes_sum = nodes_below + S'(node_children);
  assign leaves_sum = leaves_below + (S + 1)'(node_leaves);
  assign ends_level = left_in_level == S'(1);

  // Sum of the codes' shares in units of the longest code.
  logic [B:0] sum, share;
  logic [L-1:0] shift;
  logic sum_fits;  // exactly 1, or nothing to weigh

  // Lengthening: `excess` in units of what one code gives back at this length, rounded up.
  logic [S:0] excess, above, here;
  logic [S+1:0] over;  // codes here that may stay; negative: all have to go, and do not suffice
  // Of what does not change in the cycle before they are looked at.
  logic here_any, at_longest, at_one, shorter_one, shorter_at;
  logic shift_ends, lengthens_first;
  logic too_few;
  assign too_few = over[S+1];
  // Shortening: one code of length `at` has come down to `shorter`.
  logic [L-1:0] shorter;
  logic [B:0] slack, share_at, share_shorter;
  logic [B+1:0] rest;  // of the slack, behind one more step

  assign first_index = at[L-2:0];
  assign first_code = sum[B-1:0];
  assign first_write = state[SUM_LOAD];

  always_comb begin
    read_length = state[SHORTEN_FETCH] ? shorter : at;
    count_write = 1'b0;
    write_length = at;
    write_count = '0;
    write_more = '0;
    unique case (1'b1)
      state[CLEAR]: count_write = 1'b1;
      state[LEVELS], state[LEVELS_END]: begin
        count_write = level_ended && at != LONGEST;
        write_count = level_leaves;
      end
      state[LAST_LEVEL]: begin
        count_write = 1'b1;
        write_length = is_single ? L'(1) : LONGEST;
        write_count = is_single ? (S + 1)'(1) : longest_leaves;
      end
      state[LENGTHEN_MOVE]: begin
        count_write = 1'b1;
        write_length = at + L'(1);
        write_count = above;
        write_more = too_few ? here : excess;
      end
      state[LENGTHEN_END]: begin
        count_write = 1'b1;
        write_count = above;
      end
      state[SHORTEN_PUT]: begin
        count_write = 1'b1;
        write_length = shorter;
        write_count = count;
        write_more = (S + 1)'(1);
      end
      state[SHORTEN_TAKE]: begin
        count_write = 1'b1;
        write_count = here;
        write_more = '1;
      end
      default: ;
    endcase
  end

  // States, each from those before it.
  logic clear_ends, levels_end, shift_done, steps, step_ends, move_ends;
  assign clear_ends = state[CLEAR] && at_longest;
  assign levels_end = state[LEVELS] && node_valid[1] && node_is_last[1];
  assign shift_done = state[SUM_SHIFT] && shift_ends;
  assign move_ends = !too_few || at_one;
  assign steps = here_any && !rest[B+1] && !shorter_one;  // one length further down
  assign step_ends = !steps && shorter_at;
  always_comb begin
    next_state[IDLE] = state[IDLE] || (state[WEIGH] && sum_fits);
    next_state[CLEAR] = state[CLEAR] && !at_longest;
    next_state[LEVELS] = (clear_ends && has_tree) || (state[LEVELS] && !levels_end);
    next_state[LEVELS_END] = levels_end;
    next_state[LAST_LEVEL] = state[LEVELS_END] || (clear_ends && !has_tree);
    next_state[SUM_START] =
        state[LAST_LEVEL] || state[LENGTHEN_END] || (state[SHORTEN_STEP] && step_ends && at_longest);
    next_state[SUM_LOAD] = state[SUM_START] || (shift_done && !at_longest);
    next_state[SUM_SHIFT] = state[SUM_LOAD] || (state[SUM_SHIFT] && !shift_ends);
    next_state[SUM_END] = shift_done && at_longest;
    next_state[WEIGH] = state[SUM_END];
    next_state[LENGTHEN_LOAD] = (state[WEIGH] && !sum_fits && sum[B]) || (state[LENGTHEN_LOAD] && lengthens_first) ||
        (state[LENGTHEN_MOVE] && !move_ends);
    next_state[LENGTHEN_WEIGH] = state[LENGTHEN_LOAD] && !lengthens_first;
    next_state[LENGTHEN_MOVE] = state[LENGTHEN_WEIGH];
    next_state[LENGTHEN_END] = state[LENGTHEN_MOVE] && move_ends;
    next_state[SHORTEN_LOAD] =
        (state[WEIGH] && !sum_fits && !sum[B]) || (state[SHORTEN_STEP] && step_ends && !at_longest);
    next_state[SHORTEN_WEIGH] = state[SHORTEN_LOAD] || state[SHORTEN_TAKE] || (state[SHORTEN_STEP] && steps);
    next_state[SHORTEN_STEP] = state[SHORTEN_WEIGH];
    next_state[SHORTEN_FETCH] = state[SHORTEN_STEP] && !steps && !shorter_at;
    next_state[SHORTEN_PUT] = state[SHORTEN_FETCH];
    next_state[SHORTEN_TAKE] = state[SHORTEN_PUT];
  end

  // Upwards while lengths are cleared (the flag is a cycle late: the first one is cleared twice), counted, summed up and
  // shortened, downwards while they are lengthened.
  logic [L-1:0] next_at;
  always_comb begin
    next_at = at;
    if (state[CLEAR] || (level_ended && at != LONGEST) || shift_done || (state[SHORTEN_STEP] && step_ends)) begin
      next_at = at + L'(1);
    end
    if ((state[LENGTHEN_LOAD] && lengthens_first) || (state[LENGTHEN_MOVE] && !move_ends)) next_at = at - L'(1);
    if (state[IDLE]) next_at = length;
    if (state[WEIGH]) next_at = sum[B] ? LONGEST : L'(2);
    if (start || clear_ends || state[SUM_START]) next_at = L'(1);
  end

  always_ff @(posedge clk) begin
    state <= start ? STATES'(1) << CLEAR : next_state;
    at <= next_at;
    done <= 1'b0;
    node_valid <= {node_valid[0], asks};
    node_is_last <= {node_is_last[0], node == '0};
    level_ended <= state[LEVELS] && node_valid[1] && ends_level;
    level_leaves <= leaves_sum;
    if (level_ended) begin
      if (at == LONGEST) longest_leaves <= longest_leaves + level_leaves;
    end
    has_tree <= used >= (S + 1)'(2);
    is_single <= used == (S + 1)'(1);
    sum_fits <= (sum[B] && sum[B-1:0] == '0) || !has_tree;
    here_any <= here != '0;
    at_longest <= at == LONGEST && !start;
    at_one <= at == L'(1);
    shorter_one <= shorter == L'(1);
    shorter_at <= shorter == at;
    count <= read_count;
    unique case (1'b1)
      state[CLEAR]: begin
        if (at_longest) begin
          asks <= has_tree;
          node <= used[S-1:0] - S'(2);
        end
        longest_leaves <= '0;
        left_in_level <= S'(1);
        nodes_below <= '0;
        leaves_below <= '0;
      end
      state[LEVELS]: begin
        if (asks) node <= node - S'(1);
        if (node == '0) asks <= 1'b0;
        if (node_valid[1]) begin
          left_in_level <= left_in_level - S'(1);
          nodes_below <= nodes_sum;
          leaves_below <= leaves_sum;
          if (ends_level) begin
            left_in_level <= nodes_sum;
            nodes_below <= '0;
            leaves_below <= '0;
          end
        end
      end

      state[SUM_START]: begin
        sum <= '0;
      end
      state[SUM_LOAD]: begin
        share <= (B + 1)'(read_count);
        shift <= LONGEST - at;
        shift_ends <= at == LONGEST;
      end
      state[SUM_SHIFT]: begin
        shift <= shift - L'(1);
        share <= share << 1;
        shift_ends <= shift == L'(1);
        if (shift_ends) sum <= sum + share;
      end
      state[WEIGH]: begin
        slack <= WHOLE - sum;
        excess <= sum[S:0];  // less than 1024 above the whole
        lengthens_first <= 1'b1;
        done <= sum_fits;
        share_at <= WHOLE >> 2;
      end

      state[LENGTHEN_LOAD]: begin
        here <= read_count;
        lengthens_first <= 1'b0;
        if (lengthens_first) above <= read_count;
      end
      state[LENGTHEN_WEIGH]: over <= {1'b0, here} - {1'b0, excess};
      state[LENGTHEN_MOVE]: begin
        above <= too_few ? '0 : over[S:0];
        excess <= ((S + 1)'(2) + ~over[S:0]) >> 1;
      end

      state[SHORTEN_LOAD]: begin
        here <= read_count;
        shorter <= at;
        share_shorter <= share_at;
      end
      state[SHORTEN_WEIGH]: rest <= {1'b0, slack} - {1'b0, share_shorter};
      state[SHORTEN_STEP]: begin
        if (steps) begin
          slack <= rest[B:0];
          share_shorter <= share_shorter << 1;
          shorter <= shorter - L'(1);
        end else if (shorter_at) begin
          share_at <= share_at >> 1;
        end
      end
      state[SHORTEN_TAKE]: begin
        here <= here - (S + 1)'(1);
        shorter <= at;
        share_shorter <= share_at;
      end
      default: ;
    endcase
    if (rst) begin
      state <= STATES'(1) << IDLE;
      asks <= 1'b0;
      node_valid <= '0;
      level_ended <= 1'b0;
      done <= 1'b0;
    end
  end
endmodule
