// SPDX-License-Identifier: BSD-3-Clause
// How many codes of each length a tree gives, none longer than 16 bits, and the first code of each length.
//
// Nodes of a level stand side by side (huffman_merge.sv), the root at the end, so one walk back over the nodes counts
// the leaves of every level. Then as repair_kraft() in src/stages/entropy/code_lengths.cpp, on counts instead of symbols:
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

  localparam logic [4:0] IDLE = 5'd0;
  localparam logic [4:0] CLEAR = 5'd1;
  localparam logic [4:0] LEVELS = 5'd2;
  localparam logic [4:0] LAST_LEVEL = 5'd3;
  localparam logic [4:0] SUM_LOAD = 5'd4;
  localparam logic [4:0] SUM_SHIFT = 5'd5;
  localparam logic [4:0] WEIGH = 5'd6;
  localparam logic [4:0] LENGTHEN_LOAD = 5'd7;
  localparam logic [4:0] LENGTHEN_MOVE = 5'd8;
  localparam logic [4:0] LENGTHEN_END = 5'd9;
  localparam logic [4:0] SHORTEN_LOAD = 5'd10;
  localparam logic [4:0] SHORTEN_WEIGH = 5'd11;
  localparam logic [4:0] SHORTEN_PUT = 5'd12;
  localparam logic [4:0] SHORTEN_TAKE = 5'd13;
  localparam logic [4:0] SUM_START = 5'd14;
  localparam logic [4:0] LENGTHEN_WEIGH = 5'd15;
  localparam logic [4:0] SHORTEN_STEP = 5'd16;
  localparam logic [4:0] SHORTEN_FETCH = 5'd17;
  localparam logic [4:0] LEVELS_END = 5'd18;
  localparam logic [4:0] SUM_END = 5'd19;
  logic [4:0] state;

  logic has_tree, is_single;

  // A counter for every length, that of 16 at 0.
  logic [S:0] counts[1 << (L - 1)];
  logic count_write;
  logic [L-1:0] at;  // the length at hand
  /* verilator lint_off UNUSEDSIGNAL */
  logic [L-1:0] read_length, write_length;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [S:0] read_count, write_count;
  assign read_count = counts[read_length[L-2:0]];
  // Written a cycle late.
  logic late_write;
  logic [L-2:0] late_index;
  logic [S:0] late_count;
  always_ff @(posedge clk) begin
    late_write <= count_write;
    late_index <= write_length[L-2:0];
    late_count <= write_count;
    if (late_write) counts[late_index] <= late_count;
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
  logic here_any;
  logic too_few;
  assign too_few = over[S+1];
  // Shortening: one code of length `at` has come down to `shorter`.
  logic [L-1:0] shorter;
  logic [B:0] slack, share_at, share_shorter;
  logic [B+1:0] rest;  // of the slack, behind one more step

  assign first_index = at[L-2:0];
  assign first_code = sum[B-1:0];
  assign first_write = state == SUM_LOAD;

  always_comb begin
    read_length = state == SHORTEN_FETCH ? shorter : at;
    count_write = 1'b0;
    write_length = at;
    write_count = '0;
    unique case (state)
      CLEAR: count_write = 1'b1;
      LEVELS, LEVELS_END: begin
        count_write = level_ended && at != LONGEST;
        write_count = level_leaves;
      end
      LAST_LEVEL: begin
        count_write = 1'b1;
        write_length = is_single ? L'(1) : LONGEST;
        write_count = is_single ? (S + 1)'(1) : longest_leaves;
      end
      LENGTHEN_MOVE: begin
        count_write = 1'b1;
        write_length = at + L'(1);
        write_count = above + (too_few ? here : excess);
      end
      LENGTHEN_END: begin
        count_write = 1'b1;
        write_count = above;
      end
      SHORTEN_PUT: begin
        count_write = 1'b1;
        write_length = shorter;
        write_count = count + (S + 1)'(1);
      end
      SHORTEN_TAKE: begin
        count_write = 1'b1;
        write_count = here - (S + 1)'(1);
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk) begin
    done <= 1'b0;
    node_valid <= {node_valid[0], asks};
    node_is_last <= {node_is_last[0], node == '0};
    level_ended <= state == LEVELS && node_valid[1] && ends_level;
    level_leaves <= leaves_sum;
    if (level_ended) begin
      if (at != LONGEST) at <= at + L'(1);
      else longest_leaves <= longest_leaves + level_leaves;
    end
    has_tree <= used >= (S + 1)'(2);
    is_single <= used == (S + 1)'(1);
    sum_fits <= (sum[B] && sum[B-1:0] == '0) || !has_tree;
    here_any <= here != '0;
    count <= read_count;
    unique case (state)
      IDLE: at <= length;
      CLEAR: begin
        at <= at + L'(1);
        if (at == LONGEST) begin
          at <= L'(1);
          if (!has_tree) begin
            state <= LAST_LEVEL;
          end else begin
            asks <= 1'b1;
            node <= used[S-1:0] - S'(2);
            state <= LEVELS;
          end
        end
        longest_leaves <= '0;
        left_in_level <= S'(1);
        nodes_below <= '0;
        leaves_below <= '0;
      end
      LEVELS: begin
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
          if (node_is_last[1]) state <= LEVELS_END;
        end
      end
      LEVELS_END: state <= LAST_LEVEL;
      LAST_LEVEL: state <= SUM_START;

      SUM_START: begin
        at <= L'(1);
        sum <= '0;
        state <= SUM_LOAD;
      end
      SUM_LOAD: begin
        share <= (B + 1)'(read_count);
        shift <= LONGEST - at;
        state <= SUM_SHIFT;
      end
      SUM_SHIFT: begin
        shift <= shift - L'(1);
        share <= share << 1;
        if (shift == '0) begin
          sum <= sum + share;
          at <= at + L'(1);
          state <= at == LONGEST ? SUM_END : SUM_LOAD;
        end
      end
      SUM_END: state <= WEIGH;
      WEIGH: begin
        slack <= WHOLE - sum;
        excess <= sum[S:0];  // less than 1024 above the whole
        at <= LONGEST;
        if (sum_fits) begin
          done <= 1'b1;
          state <= IDLE;
        end else if (sum[B]) begin
          state <= LENGTHEN_LOAD;
        end else begin
          at <= L'(2);
          share_at <= WHOLE >> 2;
          state <= SHORTEN_LOAD;
        end
      end

      LENGTHEN_LOAD: begin
        here <= read_count;
        if (at == LONGEST) begin
          above <= read_count;
          at <= at - L'(1);
        end else begin
          state <= LENGTHEN_WEIGH;
        end
      end
      LENGTHEN_WEIGH: begin
        over <= {1'b0, here} - {1'b0, excess};
        state <= LENGTHEN_MOVE;
      end
      LENGTHEN_MOVE: begin
        above <= too_few ? '0 : over[S:0];
        excess <= ((S + 1)'(2) + ~over[S:0]) >> 1;
        if (!too_few || at == L'(1)) begin
          state <= LENGTHEN_END;
        end else begin
          at <= at - L'(1);
          state <= LENGTHEN_LOAD;
        end
      end
      LENGTHEN_END: state <= SUM_START;

      SHORTEN_LOAD: begin
        here <= read_count;
        shorter <= at;
        share_shorter <= share_at;
        state <= SHORTEN_WEIGH;
      end
      SHORTEN_WEIGH: begin
        rest <= {1'b0, slack} - {1'b0, share_shorter};
        state <= SHORTEN_STEP;
      end
      SHORTEN_STEP: begin
        if (here_any && !rest[B+1] && shorter != L'(1)) begin
          slack <= rest[B:0];
          share_shorter <= share_shorter << 1;
          shorter <= shorter - L'(1);
          state <= SHORTEN_WEIGH;
        end else if (shorter != at) begin
          state <= SHORTEN_FETCH;
        end else begin
          at <= at + L'(1);
          share_at <= share_at >> 1;
          state <= SHORTEN_LOAD;
          if (at == LONGEST) state <= SUM_START;
        end
      end
      SHORTEN_FETCH: state <= SHORTEN_PUT;
      SHORTEN_PUT: state <= SHORTEN_TAKE;
      SHORTEN_TAKE: begin
        here <= here - (S + 1)'(1);
        shorter <= at;
        share_shorter <= share_at;
        state <= SHORTEN_WEIGH;
      end
      default: ;
    endcase
    if (start) begin
      at <= L'(1);
      state <= CLEAR;
    end
    if (rst) begin
      state <= IDLE;
      asks <= 1'b0;
      node_valid <= '0;
      level_ended <= 1'b0;
      done <= 1'b0;
    end
  end
endmodule
