// SPDX-License-Identifier: BSD-3-Clause
// The sum of what came since `restart`, that included, a cycle later.
module accumulator #(
    parameter int WIDTH = 32  // at most 48
) (
    input  logic             clk,
    input  logic             restart,
    input  logic [WIDTH-1:0] more,
    output logic [WIDTH-1:0] sum
);
`ifdef NEVE_PORTABLE
  always_ff @(posedge clk) sum <= (restart ? '0 : sum) + more;
`else
  // Y is what comes, W what was there.
  logic [47:0] p;
  dsp_slice slice (
      .clk, .a('0), .b('0), .c(48'(more)), .cascade_in('0), .opmode({1'b0, ~restart, 7'b000_11_00}), .subtract(1'b0),
      .carry(1'b0), .p, .cascade(), .is_zero(), .is_ones());
  assign sum = p[WIDTH-1:0];
`endif
endmodule
