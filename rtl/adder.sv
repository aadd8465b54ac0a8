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
  add_sub #(.WIDTH(WIDTH), .SMALL_BITS(0)) add_sub_i (.clk, .subtract, .carry, .a, .b, .sum, .is_small());
endmodule
