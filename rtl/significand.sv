// SPDX-License-Identifier: BSD-3-Clause
// A product of two normal significands rounded to 24 bits, ties to even, two cycles later.
//   value = product * 2^-46 = significand * 2^(-23 + raised)
module significand (
  input  logic        clk,
  input  logic [47:0] product,      // 2^46 and more; of less nothing useful comes out
  output logic [23:0] value,
  output logic [1:0]  raised        // 0 to 2 binades above that of the product's lowest
);
  logic [23:0] kept;
  logic        is_high, guard, sticky;
  logic [24:0] rounded;
  assign rounded = {1'b0, kept} + {24'b0, guard & (sticky | kept[0])};
  always_ff @(posedge clk) begin
    is_high <= product[47];
    kept <= product[47] ? product[47:24] : product[46:23];
    guard <= product[47] ? product[23] : product[22];
    sticky <= |product[21:0] | (product[47] & product[22]);

    // A carry leaves zeros behind it.
    value <= {rounded[24] | rounded[23], rounded[22:0]};
    raised <= {1'b0, is_high} + {1'b0, rounded[24]};
  end
endmodule
