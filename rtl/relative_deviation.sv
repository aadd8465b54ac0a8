// SPDX-License-Identifier: BSD-3-Clause
// sqrt(radicand) / total in 16.16, rounded down twice: a bit of the root a cycle, then a bit of the quotient. 0 where the
// total is 0. 91 cycles.
module relative_deviation (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [63:0] radicand,  // stays until done, as total does
    input  logic [25:0] total,     // at least 2^-5 of the root
    output logic        done,
    output logic [21:0] value
);
  // The root with 8 more bits, so that it is exact to 2^-16 of a total of 256.
  localparam int ROOT = 40;
  localparam int QUOTIENT = 48;

  // What comes down into the remainders, by what is left: two bits of the radicand, or one of the root, and zeros last.
  logic takes_root, divides, shows_root, shows_quotient;
  logic [5:0] left;
  logic [ROOT-1:0] root;
  logic [79:0] radicand_places;
  logic [63:0] root_places;
  assign radicand_places = {radicand, 16'd0};
  assign root_places = {16'd0, root, 8'd0};

  // Each shows the sign of its step a cycle later: a bit that is 1 where nothing is missing.
  logic root_misses, quotient_misses;
  remainder #(.WIDTH(ROOT + 4), .BITS(2)) root_rest (
      .clk,
      .runs(takes_root),
      .bits(radicand_places[2*left+:2]),
      .divisor({2'b00, root[ROOT-2:0], shows_root & !root_misses, root_misses, 1'b1}),
      .is_negative(root_misses)
  );
  remainder #(.WIDTH(29), .BITS(1)) quotient_rest (
      .clk,
      .runs(divides),
      .bits(root_places[left]),
      .divisor({3'b000, total}),
      .is_negative(quotient_misses)
  );

  always_ff @(posedge clk) begin
    left <= left - 6'd1;
    shows_root <= takes_root;
    shows_quotient <= divides;
    done <= shows_quotient && !divides;
    if (shows_root) root <= {root[ROOT-2:0], !root_misses};
    if (shows_quotient) value <= {value[20:0], !quotient_misses};
    if (total == '0) value <= '0;
    if (takes_root && left == '0) takes_root <= 1'b0;
    // The root's last bit has to be there.
    if (shows_root && !takes_root) begin
      divides <= 1'b1;
      left <= 6'(QUOTIENT - 1);
    end
    if (divides && left == '0) divides <= 1'b0;
    if (start) begin
      root <= '0;
      left <= 6'(ROOT - 1);
      takes_root <= 1'b1;
      divides <= 1'b0;
    end
    if (rst) begin
      takes_root <= 1'b0;
      divides <= 1'b0;
      shows_root <= 1'b0;
      shows_quotient <= 1'b0;
      done <= 1'b0;
    end
  end
endmodule
