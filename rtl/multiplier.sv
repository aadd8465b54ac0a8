// SPDX-License-Identifier: BSD-3-Clause
// Two significands of 24 bits to their product, three cycles later: four products of 12 bits, so that every
// device's multipliers fit and each adder has a cycle of its own.
module multiplier (
  input  logic        clk,
  input  logic [23:0] a,
  input  logic [23:0] b,
  output logic [47:0] product
);
  logic [23:0] low, middle_a, middle_b, high;
  logic [24:0] middle;
  // As registers: a shift register of so few places would take a look-up table for each bit.
  (* keep, shreg_extract = "no" *) logic [47:0] ends;
  always_ff @(posedge clk) begin
    low <= a[11:0] * b[11:0];
    middle_a <= a[23:12] * b[11:0];
    middle_b <= a[11:0] * b[23:12];
    high <= a[23:12] * b[23:12];

    middle <= {1'b0, middle_a} + {1'b0, middle_b};
    ends <= {high, low};

    product <= {ends[47:12] + {11'b0, middle}, ends[11:0]};
  end
endmodule
