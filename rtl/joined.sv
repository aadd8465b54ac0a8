// SPDX-License-Identifier: BSD-3-Clause
// N numbers, of which one at most is not zero, to that one, $clog2(N) cycles later. A sum is as good as an OR then, and
// adders stand where multipliers are (dsp_slice.sv).
module joined #(
  parameter int N = 16,
  parameter int WIDTH = 128
) (
  input  logic               clk,
  input  logic [N*WIDTH-1:0] in,
  output logic [WIDTH-1:0]   out
);
  localparam int LEVELS = $clog2(N);
  localparam int LEAVES = 1 << LEVELS;
  localparam int SLICE = 48;  // what an adder takes
  // Each level stands before the one below it.
  logic [WIDTH*(2*LEAVES-1)-1:0] numbers;
  genvar i, b;
  generate
    for (i = 0; i < LEAVES; i = i + 1) begin : leaves
      if (i < N) assign numbers[WIDTH*(LEAVES-1+i)+:WIDTH] = in[WIDTH*i+:WIDTH];
      else assign numbers[WIDTH*(LEAVES-1+i)+:WIDTH] = '0;
    end
    for (i = 0; i < LEAVES - 1; i = i + 1) begin : adders
      for (b = 0; b < WIDTH; b = b + SLICE) begin : slices
        localparam int BITS = WIDTH - b < SLICE ? WIDTH - b : SLICE;
        adder #(.WIDTH(BITS)) adder_i (
          .clk(clk), .subtract(1'b0), .carry(1'b0), .a(numbers[WIDTH*(2*i+1)+b+:BITS]),
          .b(numbers[WIDTH*(2*i+2)+b+:BITS]), .sum(numbers[WIDTH*i+b+:BITS]));
      end
    end
  endgenerate
  assign out = numbers[WIDTH-1:0];
endmodule
