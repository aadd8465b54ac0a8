// SPDX-License-Identifier: BSD-3-Clause
// a + b + carry, or a - b - carry, a cycle later, of signed numbers.
module add_sub #(
    parameter int WIDTH = 32,    // at most 48
    parameter int SMALL_BITS = 9  // 0: not asked
) (
    input  logic             clk,
    input  logic             subtract,
    input  logic             carry,
    input  logic [WIDTH-1:0] a,
    input  logic [WIDTH-1:0] b,
    output logic [WIDTH-1:0] sum,
    output logic             is_small  // -2^SMALL_BITS <= sum < 2^SMALL_BITS
);
`ifdef NEVE_PORTABLE
  // One adder: a - b - c is a + ~b + !c.
  logic [WIDTH:0] whole;
  assign whole = {a, 1'b1} + {b ^ {WIDTH{subtract}}, carry ^ subtract};
  always_ff @(posedge clk) sum <= whole[WIDTH:1];
  assign is_small = SMALL_BITS != 0 & (&sum[WIDTH-1:SMALL_BITS] | ~|sum[WIDTH-1:SMALL_BITS]);
`else
  localparam logic [8:0] C_AND_AB = 9'b00_011_00_11;
  logic [47:0] p, wide;
  logic is_zero, is_ones;
  assign wide = 48'($signed(b));
  dsp_slice #(.UNLOOKED_BITS(SMALL_BITS)) slice (
      .clk, .a(wide[47:18]), .b(wide[17:0]), .c(48'($signed(a))), .cascade_in('0), .opmode(C_AND_AB), .subtract,
      .carry, .p, .cascade(), .is_zero, .is_ones);
  assign is_small = SMALL_BITS != 0 & (is_zero | is_ones);
  assign sum = p[WIDTH-1:0];
`endif
endmodule
