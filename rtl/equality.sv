// SPDX-License-Identifier: BSD-3-Clause
// Whether two numbers are equal, a cycle later.
module equality #(
    parameter int WIDTH = 32  // at most 48
) (
    input  logic             clk,
    input  logic [WIDTH-1:0] a,
    input  logic [WIDTH-1:0] b,
    output logic             equal
);
`ifdef NEVE_PORTABLE
  // In groups of four bits, whose results are looked at behind the registers.
  localparam int GROUPS = (WIDTH + 3) / 4;
  logic [4*GROUPS-1:0] differs;
  logic [GROUPS-1:0] group_differs;
  assign differs = (4 * GROUPS)'(a) ^ (4 * GROUPS)'(b);
  always_ff @(posedge clk) for (int g = 0; g < GROUPS; g++) group_differs[g] <= |differs[4*g+:4];
  assign equal = ~|group_differs;
`else
  localparam logic [8:0] C_AND_AB = 9'b00_011_00_11;
  logic [47:0] wide;
  assign wide = 48'(b);
  dsp_slice slice (
      .clk, .a(wide[47:18]), .b(wide[17:0]), .c(48'(a)), .cascade_in('0), .opmode(C_AND_AB), .subtract(1'b1),
      .carry(1'b0), .p(), .cascade(), .is_zero(equal), .is_ones());
`endif
endmodule
