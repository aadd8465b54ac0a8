// SPDX-License-Identifier: BSD-3-Clause
// The loop of a division or a root that does not restore: a remainder with more bits at its end, less `divisor` where it
// is not negative, else plus `divisor`. Zero without `runs`.
module remainder #(
    parameter int WIDTH = 44,  // at most 48
    parameter int BITS = 2     // that come in
) (
    input  logic             clk,
    input  logic             runs,
    input  logic [ BITS-1:0] bits,
    input  logic [WIDTH-1:0] divisor,
    output logic             is_negative
);
  logic [WIDTH-1:0] rest, shifted;
  assign shifted = {rest[WIDTH-BITS-1:0], bits};
  assign is_negative = rest[WIDTH-1];
`ifdef NEVE_PORTABLE
  always_ff @(posedge clk) rest <= !runs ? '0 : is_negative ? shifted + divisor : shifted - divisor;
`else
  localparam logic [8:0] NOTHING = 9'b00_000_00_00;
  localparam logic [8:0] C_AND_AB = 9'b00_011_00_11;
  logic [47:0] p, wide;
  assign wide = 48'(divisor);
  dsp_slice slice (
      .clk, .a(wide[47:18]), .b(wide[17:0]), .c(48'(shifted)), .cascade_in('0), .opmode(runs ? C_AND_AB : NOTHING),
      .subtract(!is_negative), .carry(1'b0), .p, .cascade(), .is_zero(), .is_ones());
  assign rest = p[WIDTH-1:0];
`endif
endmodule
