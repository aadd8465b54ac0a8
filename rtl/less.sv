// SPDX-License-Identifier: BSD-3-Clause
// Whether a is less than b, both unsigned, a cycle later.
module less #(
    parameter int WIDTH = 32  // at most 47
) (
    input  logic             clk,
    input  logic [WIDTH-1:0] a,
    input  logic [WIDTH-1:0] b,
    output logic             is_less
);
  logic [WIDTH:0] difference;
  adder #(
      .WIDTH(WIDTH + 1)
  ) subtraction (
      .clk,
      .subtract(1'b1),
      .carry(1'b0),
      .a({1'b0, a}),
      .b({1'b0, b}),
      .sum(difference)
  );
  assign is_less = difference[WIDTH];
endmodule
