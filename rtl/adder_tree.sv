// SPDX-License-Identifier: BSD-3-Clause
// The sum of N numbers, $clog2(N) + 1 cycles later.
module adder_tree #(
  parameter int N = 16,
  parameter int BITS = 13,
  parameter int SUM_BITS = 24
) (
  input  logic              clk,
  input  logic              in_valid,
  input  logic [N*BITS-1:0] in,
  output logic              out_valid,
  output logic [SUM_BITS-1:0] out
);
  localparam int LEVELS = $clog2(N);
  localparam int LEAVES = 1 << LEVELS;
  // Level 0 holds the numbers, filled up with zeros.
  logic [SUM_BITS-1:0] sums [0:LEVELS][0:LEAVES-1];
  logic [LEVELS:0] valid;
  integer l, i;
  always_ff @(posedge clk) begin
    valid[0] <= in_valid;
    for (i = 0; i < LEAVES; i = i + 1) sums[0][i] <= i < N ? SUM_BITS'(in[BITS*(i < N ? i : 0)+:BITS]) : '0;
    for (l = 1; l <= LEVELS; l = l + 1) begin
      valid[l] <= valid[l-1];
      for (i = 0; i < LEAVES >> l; i = i + 1) sums[l][i] <= sums[l-1][2*i] + sums[l-1][2*i+1];
    end
  end
  assign out_valid = valid[LEVELS];
  assign out = sums[LEVELS][0];
endmodule
