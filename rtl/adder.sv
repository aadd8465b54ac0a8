// SPDX-License-Identifier: BSD-3-Clause
// a + b + carry, or a - b - carry, a cycle later: add_sub.sv for those who do not ask how large the sum is.
module adder #(
    parameter int WIDTH = 32  // at most 48
) (
    input  logic             clk,
    input  logic             subtract,
    input  logic             carry,
    input  logic [WIDTH-1:0] a,
    input  logic [WIDTH-1:0] b,
    output logic [WIDTH-1:0] sum
);
`ifdef NEVE_PORTABLE
  // One adder: a - b - c is a + ~b + !c.
  logic [WIDTH:0] whole;
  assign whole = {a, 1'b1} + {b ^ {WIDTH{subtract}}, carry ^ subtract};
  always_ff @(posedge clk) sum <= whole[WIDTH:1];
`else
  localparam logic [8:0] C_AND_AB = 9'b00_011_00_11;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [47:0] p;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [47:0] wide_a, wide_b;
  assign wide_a = 48'(a);
  assign wide_b = 48'(b);
  dsp_slice slice (
      .clk, .a(wide_b[47:18]), .b(wide_b[17:0]), .c(wide_a), .cascade_in('0), .opmode(C_AND_AB), .subtract, .carry, .p,
      .cascade(), .is_zero(), .is_ones());
  assign sum = p[WIDTH-1:0];
`endif
endmodule
