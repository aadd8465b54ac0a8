// SPDX-License-Identifier: BSD-3-Clause
// base + (value << places), or base - (value << places), two cycles after the value and one after the base.
module shift_add #(
    parameter int VALUE_BITS = 24,  // at most 26
    parameter int PLACE_BITS = 2,   // at most 4
    parameter int WIDTH = 29        // at most 48
) (
    input  logic                  clk,
    input  logic                  subtract,
    input  logic [VALUE_BITS-1:0] value,
    input  logic [PLACE_BITS-1:0] places,
    input  logic [     WIDTH-1:0] base,    // a cycle later
    output logic [     WIDTH-1:0] sum
);
  logic subtracts;
  always_ff @(posedge clk) subtracts <= subtract;
`ifdef NEVE_PORTABLE
  logic [WIDTH-1:0] shifted;
  logic [WIDTH:0] whole;
  assign whole = {base, 1'b1} + {shifted ^ {WIDTH{subtracts}}, subtracts};
  always_ff @(posedge clk) begin
    shifted <= WIDTH'(value) << places;
    sum <= whole[WIDTH:1];
  end
`else
  // Shifted by a multiplication with a power of two.
  localparam logic [8:0] C_AND_PRODUCT = 9'b00_011_01_01;
  logic [47:0] p;
  dsp_slice #(.MULTIPLIES(1)) slice (
      .clk, .a(30'(value)), .b(18'd1 << places), .c(48'(base)), .cascade_in('0), .opmode(C_AND_PRODUCT),
      .subtract(subtracts), .carry(1'b0), .p, .cascade(), .is_zero(), .is_ones());
  assign sum = p[WIDTH-1:0];
`endif
endmodule
