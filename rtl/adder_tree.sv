// SPDX-License-Identifier: BSD-3-Clause
// The sum of those of N numbers that are taken, $clog2(N) + 1 cycles later.
module adder_tree #(
  parameter int N = 16,
  parameter int BITS = 13,
  parameter int SUM_BITS = 24
) (
  input  logic              clk,
  input  logic              in_valid,
  input  logic [N-1:0]      takes,
  input  logic [N*BITS-1:0] in,
  output logic              out_valid,
  output logic [SUM_BITS-1:0] out
);
  localparam int LEVELS = $clog2(N);
  localparam int LEAVES = 1 << LEVELS;
  // Level 0 holds the numbers, filled up with zeros; each level stands before the one below it.
  logic [SUM_BITS*(2*LEAVES-1)-1:0] sums;
  logic [LEVELS:0] valid;
  genvar l, i;
  generate
    for (i = 0; i < LEAVES; i = i + 1) begin : leaves
      if (i < N) begin : number
        logic [BITS-1:0] leaf;
        always_ff @(posedge clk) leaf <= takes[i] ? in[BITS*i+:BITS] : '0;
        assign sums[SUM_BITS*(LEAVES-1+i)+:SUM_BITS] = SUM_BITS'(leaf);
      end else begin : nothing
        assign sums[SUM_BITS*(LEAVES-1+i)+:SUM_BITS] = '0;
      end
    end
    for (i = 0; i < LEAVES - 1; i = i + 1) begin : adders
      adder #(.WIDTH(SUM_BITS)) adder_i (
        .clk(clk), .subtract(1'b0), .carry(1'b0), .a(sums[SUM_BITS*(2*i+1)+:SUM_BITS]),
        .b(sums[SUM_BITS*(2*i+2)+:SUM_BITS]), .sum(sums[SUM_BITS*i+:SUM_BITS]));
    end
    for (l = 0; l <= LEVELS; l = l + 1) begin : stages
      always_ff @(posedge clk) valid[l] <= l == 0 ? in_valid : valid[l > 0 ? l - 1 : 0];
    end
  endgenerate
  assign out_valid = valid[LEVELS];
  assign out = sums[SUM_BITS-1:0];
endmodule
