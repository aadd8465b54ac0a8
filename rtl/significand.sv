// SPDX-License-Identifier: BSD-3-Clause
// A product of two normal significands rounded to 24 bits, ties to even, two cycles later.
//   value = product * 2^-46 = significand * 2^(-23 + raised)
module significand (
  input  logic        clk,
  input  logic [47:0] product,      // 2^46 and more, or 0, which stays 0; of other ones nothing useful comes out
  output logic [23:0] value,
  output logic [1:0]  raised        // 0 to 2 binades above that of the product's lowest
);
  logic        is_high, sticky;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [24:0] rounded;
  /* verilator lint_on UNUSEDSIGNAL */
  logic        is_high2;
  assign sticky = |product[21:0];
`ifdef NEVE_PORTABLE
  logic [23:0] kept;
  logic        guard, rest;
  always_ff @(posedge clk) begin
    kept <= product[47] ? product[47:24] : product[46:23];
    guard <= product[47] ? product[23] : product[22];
    rest <= sticky | (product[47] & product[22]);
    rounded <= {1'b0, kept} + {24'b0, guard & (rest | kept[0])};
  end
`else
  // The slice takes one of its two inputs: a and b as X, or c as Y.
  logic [24:0] kept;      // and the bit below
  logic        is_low, up;
  logic [47:0] p, high;
  assign high = 48'(kept[24:1]);
  always_ff @(posedge clk) begin
    kept <= product[47:23];
    is_low <= ~product[47];
    up <= product[47] ? product[23] & (product[22] | sticky | product[24]) : product[22] & (sticky | product[23]);
  end
  dsp_slice slice (
      .clk, .a(high[47:18]), .b(high[17:0]), .c(48'(kept[23:0])), .cascade_in('0),
      .opmode({5'b00_000, {2{is_low}}, {2{is_high}}}), .subtract(1'b0), .carry(up), .p, .cascade(), .is_zero(), .is_ones());
  assign rounded = p[24:0];
`endif

  always_ff @(posedge clk) begin
    is_high <= product[47];
    is_high2 <= is_high;
  end
  // A carry leaves zeros behind it.
  assign value = {rounded[24] | rounded[23], rounded[22:0]};
  assign raised = {1'b0, is_high2} + {1'b0, rounded[24]};
endmodule
