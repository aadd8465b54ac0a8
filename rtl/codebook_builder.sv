// SPDX-License-Identifier: BSD-3-Clause
// A histogram to a canonical prefix code of at most 16 bits: the codebook that make_codebook() in
// src/core/stream/codebook.cpp makes, bit for bit. At most 8,000 cycles.
//
//   order    symbols that occur, most frequent first (symbol_order.sv)      1,033 cycles
//   merge    Huffman's tree (huffman_merge.sv)                              3 for each symbol
//   count    codes of each length, none above 16 bits (length_counts.sv)    1 for each symbol, and 200 to 700
//   lengths  by rank, the most frequent symbols the shortest codes          1 for each symbol
//   codes    by symbol: they count upwards within a length                  1,028
module codebook_builder (
    input  logic                            clk,
    input  logic                            rst,
    input  logic                            start,
    output logic [neve_pkg::SYMBOL_BITS-1:0] count_addr,
    input  logic [ neve_pkg::COUNT_BITS-1:0] count_data,
    output logic                            entry_write,
    output logic [neve_pkg::SYMBOL_BITS-1:0] entry_addr,
    output logic [ neve_pkg::ENTRY_BITS-1:0] entry_data,
    output logic                            busy,
    output logic                            done
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int C = neve_pkg::COUNT_BITS;
  localparam int L = neve_pkg::LENGTH_BITS;
  localparam int B = neve_pkg::MAX_CODE_BITS;
  localparam logic [L-1:0] LONGEST = L'(B);

  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] ORDER = 3'd1;
  localparam logic [2:0] MERGE = 3'd2;
  localparam logic [2:0] COUNT = 3'd3;
  localparam logic [2:0] RANKS_LOAD = 3'd4;
  localparam logic [2:0] RANKS = 3'd5;
  localparam logic [2:0] CODES = 3'd6;
  logic [2:0] state;
  assign busy = state != IDLE;

  logic [S:0] symbol;  // bit S: all
  logic [S:0] rank;

  // --- order -----------------------------------------------------------------------------------------------
  logic order_done;
  logic [S:0] used;
  logic leaf_write;
  logic [S-1:0] leaf_rank, leaf_symbol;
  logic [C-1:0] leaf_count;
  symbol_order order (
      .clk,
      .rst,
      .start,
      .count_addr,
      .count_data,
      .leaf_write,
      .leaf_rank,
      .leaf_symbol,
      .leaf_count,
      .done(order_done),
      .used
  );

  logic [S-2:0] merge_even_addr, merge_odd_addr;
  logic [C-1:0] leaf_even_count, leaf_odd_count;
  logic [S-1:0] leaf_even_symbol, leaf_odd_symbol;
  logic merges;
  assign merges = state == MERGE;
  block_ram #(
      .WIDTH(S + C),
      .DEPTH(neve_pkg::SYMBOLS / 2)
  ) even_leaves (
      .clk,
      .write(leaf_write && !leaf_rank[0]),
      .write_addr(leaf_rank[S-1:1]),
      .write_data({leaf_symbol, leaf_count}),
      .read_addr(merges ? merge_even_addr : rank[S-1:1]),
      .read_data({leaf_even_symbol, leaf_even_count})
  );
  block_ram #(
      .WIDTH(S + C),
      .DEPTH(neve_pkg::SYMBOLS / 2)
  ) odd_leaves (
      .clk,
      .write(leaf_write && leaf_rank[0]),
      .write_addr(leaf_rank[S-1:1]),
      .write_data({leaf_symbol, leaf_count}),
      .read_addr(merges ? merge_odd_addr : rank[S-1:1]),
      .read_data({leaf_odd_symbol, leaf_odd_count})
  );

  // --- merge -----------------------------------------------------------------------------------------------
  logic merge_start, merge_done;
  logic node_write;
  logic [S-1:0] node, counted_node;
  logic [1:0] node_children, counted_children;
  huffman_merge merge (
      .clk,
      .rst,
      .start(merge_start),
      .used,
      .leaf_even_addr(merge_even_addr),
      .leaf_odd_addr(merge_odd_addr),
      .leaf_even_count,
      .leaf_odd_count,
      .node_write,
      .node,
      .node_children,
      .done(merge_done)
  );
  block_ram #(
      .WIDTH(2),
      .DEPTH(neve_pkg::SYMBOLS)
  ) children (
      .clk,
      .write(node_write),
      .write_addr(node),
      .write_data(node_children),
      .read_addr(counted_node),
      .read_data(counted_children)
  );

  // --- count -----------------------------------------------------------------------------------------------
  logic count_start, count_done;
  logic [L-1:0] length;
  logic [S:0] count;
  logic first_write;
  logic [L-2:0] first_index;
  logic [B-1:0] first_code;
  length_counts length_counts (
      .clk,
      .rst,
      .start(count_start),
      .used,
      .node(counted_node),
      .node_children(counted_children),
      .done(count_done),
      .length,
      .count,
      .first_write,
      .first_index,
      .first_code
  );

  // --- lengths ---------------------------------------------------------------------------------------------
  logic [S:0] left;  // codes of this length
  logic [1:0] count_wait;  // until its counter is there
  logic all_ranked;  // a cycle late
  logic [1:0] ranked_valid, ranked_odd;
  logic [L-1:0] ranked_length[2];
  logic length_write;
  logic [S-1:0] length_addr;
  logic [L-1:0] length_data, symbol_length;
  block_ram #(
      .WIDTH(L),
      .DEPTH(neve_pkg::SYMBOLS)
  ) lengths (
      .clk,
      .write(length_write),
      .write_addr(length_addr),
      .write_data(length_data),
      .read_addr(symbol[S-1:0]),
      .read_data(symbol_length)
  );

  // --- codes -----------------------------------------------------------------------------------------------
  // The next code of each length, that of 16 at 0, its first bit highest whatever its length. A code is read, and in the
  // next cycle counts up; one of the same length behind it takes what that gives.
  logic [B-1:0] codes[1 << (L - 1)];
  logic [2:0] asked;
  logic [S-1:0] asked_symbol[3];
  logic [L-1:0] code_length;
  logic [B-1:0] code, code_step, next_code;
  logic code_any, code_write;  // of a symbol that has a code
  assign code_write = asked[2] && code_any;
  assign next_code = code + code_step;
  always_ff @(posedge clk) begin
    if (first_write || code_write) begin
      codes[first_write ? first_index : code_length[L-2:0]] <= first_write ? first_code : next_code;
    end
    code_length <= symbol_length;
    code_any <= symbol_length != '0;
    code_step <= B'(1) << -symbol_length[L-2:0];
    code <= code_write && code_length == symbol_length ? next_code : codes[symbol_length[L-2:0]];
  end

  always_ff @(posedge clk) begin
    merge_start <= 1'b0;
    count_start <= 1'b0;
    done <= 1'b0;

    length_write <= 1'b0;
    ranked_valid <= {ranked_valid[0], 1'b0};
    ranked_odd <= {ranked_odd[0], rank[0]};
    ranked_length[0] <= length;
    ranked_length[1] <= ranked_length[0];
    all_ranked <= length > LONGEST;
    asked <= {asked[1:0], 1'b0};
    asked_symbol[0] <= symbol[S-1:0];
    asked_symbol[1] <= asked_symbol[0];
    asked_symbol[2] <= asked_symbol[1];

    unique case (state)
      ORDER: begin
        // Symbols that do not occur stay at 0.
        length_write <= !symbol[S];
        length_addr <= symbol[S-1:0];
        length_data <= '0;
        if (!symbol[S]) symbol <= symbol + (S + 1)'(1);
        if (order_done) begin
          merge_start <= used > (S + 1)'(1);
          count_start <= used <= (S + 1)'(1);
          state <= used > (S + 1)'(1) ? MERGE : COUNT;
        end
      end
      MERGE: begin
        if (merge_done) begin
          count_start <= 1'b1;
          state <= COUNT;
        end
      end
      COUNT: begin
        length <= L'(1);
        count_wait <= '1;
        rank <= '0;
        if (count_done) state <= RANKS_LOAD;
      end
      RANKS_LOAD: begin
        left <= count;
        symbol <= '0;
        count_wait <= {count_wait[0], 1'b0};
        if (all_ranked) begin
          // The last lengths are on their way.
          if (ranked_valid == '0 && !length_write) state <= CODES;
        end else if (count_wait == '0) begin
          state <= RANKS;
          if (count == '0) begin
            length <= length + L'(1);
            count_wait <= '1;
            state <= RANKS_LOAD;
          end
        end
      end
      RANKS: begin
        ranked_valid[0] <= 1'b1;
        rank <= rank + (S + 1)'(1);
        left <= left - (S + 1)'(1);
        if (left == (S + 1)'(1)) begin
          length <= length + L'(1);
          count_wait <= '1;
          state <= RANKS_LOAD;
        end
      end
      CODES: begin
        asked[0] <= !symbol[S];
        if (!symbol[S]) symbol <= symbol + (S + 1)'(1);
        else if (asked == '0) begin
          state <= IDLE;
          done <= 1'b1;
        end
      end
      default: ;
    endcase

    if (ranked_valid[1]) begin
      length_write <= 1'b1;
      length_addr <= ranked_odd[1] ? leaf_odd_symbol : leaf_even_symbol;
      length_data <= ranked_length[1];
    end

    entry_write <= asked[2];
    entry_addr <= asked_symbol[2];
    entry_data <= '0;
    if (code_any) begin
      entry_data[B+:L] <= code_length;
      for (int b = 0; b < B; b++) entry_data[b] <= code[B-1-b];
    end

    if (start) begin
      symbol <= '0;
      state <= ORDER;
    end
    if (rst) begin
      state <= IDLE;
      merge_start <= 1'b0;
      count_start <= 1'b0;
      length_write <= 1'b0;
      ranked_valid <= '0;
      asked <= '0;
      entry_write <= 1'b0;
      done <= 1'b0;
    end
  end
endmodule
