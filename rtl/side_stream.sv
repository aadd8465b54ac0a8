// SPDX-License-Identifier: BSD-3-Clause
// What stands beside the codes (docs/format.md, "Symbols"): every escape's value and, of values without a
// quantization code, how many equal ones follow, which have no symbols. An entry waits until its run has ended.
module side_stream #(
  parameter int BLOCK_BITS = 12
) (
  input  logic        clk,
  input  logic        rst,
  input  logic        in_valid,
  input  logic        in_first,      // of a block
  input  logic        in_last,
  input  logic        in_special,
  input  logic [9:0]  in_symbol,
  input  logic [31:0] in_data,

  output logic        symbol_valid,
  output logic        symbol_first,  // of a block
  output logic [9:0]  symbol,
  output logic [BLOCK_BITS-1:0] symbol_index,  // in its block

  output logic        entry_valid,
  output logic        entry_special, // 6 bytes: value and run; else 4
  output logic [15:0] entry_run,
  output logic [31:0] entry_value,

  // A block is through: its symbols leave no later than this.
  output logic        block_done,
  output logic [BLOCK_BITS:0] block_symbols,
  output logic [BLOCK_BITS:0] block_entries,
  output logic [BLOCK_BITS+2:0] block_side_bytes
);
  // 1: equal to the value before?
  logic        valid1, first1, last1, special1, follows1;
  logic [9:0]  symbol1;
  logic [31:0] data1;  // of the last value that came
  logic        equal1;
  equality #(.WIDTH(32)) compare (.clk(clk), .a(in_data), .b(data1), .equal(equal1));
  always_ff @(posedge clk) begin
    valid1 <= in_valid & ~rst;
    if (in_valid) begin
      first1 <= in_first;
      last1 <= in_last;
      special1 <= in_special;
      symbol1 <= in_symbol;
      data1 <= in_data;
      follows1 <= in_special & special1 & ~in_first;
    end
  end

  // 2
  logic        valid2, first2, last2, special2, extends2, escape2;
  logic [9:0]  symbol2;
  logic [31:0] data2;
  always_ff @(posedge clk) begin
    valid2 <= valid1 & ~rst;
    first2 <= first1;
    last2 <= last1;
    special2 <= special1;
    symbol2 <= symbol1;
    data2 <= data1;
    extends2 <= follows1 & equal1;
    escape2 <= ~|symbol1;
  end

  // 3: symbols and counts; 4: sums.
  logic [BLOCK_BITS:0] symbols3;
  logic last3, restarts3, enters3, special_enters3;
  accumulator #(.WIDTH(2 * BLOCK_BITS + 4)) sums (
    .clk(clk), .restart(restarts3),
    .more({{BLOCK_BITS{1'b0}}, enters3, {BLOCK_BITS{1'b0}}, enters3, special_enters3, 1'b0}),
    .sum({block_entries, block_side_bytes}));
  always_ff @(posedge clk) begin
    symbol_valid <= valid2 & ~extends2;
    symbol_first <= first2;
    symbol <= symbol2;
    last3 <= valid2 & last2;
    restarts3 <= valid2 & first2;
    enters3 <= valid2 & escape2 & ~extends2;
    special_enters3 <= valid2 & escape2 & ~extends2 & special2;
    if (valid2) begin
      symbol_index <= first2 ? '0 : symbols3[BLOCK_BITS-1:0];
      symbols3 <= first2 ? 1 : symbols3 + {{BLOCK_BITS{1'b0}}, ~extends2};
    end
    block_done <= last3;
    block_symbols <= symbols3;
  end

  // 3: the entry that waits, and whether more equal values may come.
  logic        waits3, is_open3, special3;
  logic [15:0] run3;
  logic [31:0] value3;
  always_ff @(posedge clk) begin
    entry_valid <= waits3 & (valid2 ? ~extends2 : ~is_open3);
    entry_special <= special3;
    entry_run <= run3;
    entry_value <= value3;
    // Zeros first, so that they are a register's reset.
    if (valid2 & ~extends2) run3 <= 16'd0;
    else if (valid2) run3 <= run3 + 16'd1;
    if (rst) begin
      waits3 <= 1'b0;
      entry_valid <= 1'b0;
    end else if (valid2 & extends2) begin
      is_open3 <= ~last2;
    end else if (valid2) begin
      waits3 <= escape2;
      is_open3 <= special2 & ~last2;
      special3 <= special2;
      value3 <= data2;
    end else if (~is_open3) begin
      waits3 <= 1'b0;
    end
  end
endmodule
