// SPDX-License-Identifier: BSD-3-Clause
// sqrt(radicand) / total in 16.16, rounded down twice: a bit of the root a cycle, then a bit of the quotient. 0 where the
// total is 0. 92 cycles.
module relative_deviation (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [63:0] radicand,
    input  logic [26:0] total,     // at least 2^-5 of the root; stays until done
    output logic        done,
    output logic [21:0] value
);
  // The root with 8 more bits, so that it is exact to 2^-16 of a total of 256.
  localparam int ROOT = 40;
  localparam int QUOTIENT = 48;

  logic takes_root, divides;
  logic [5:0] left;
  logic [2*ROOT-1:0] operand;  // two bits at a time leave at the top
  logic [ROOT-1:0] root;
  logic [ROOT-1:0] rest;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [ROOT+2:0] tried_rest;
  /* verilator lint_on UNUSEDSIGNAL */
  assign tried_rest = {1'b0, rest, operand[2*ROOT-1-:2]} - {1'b0, root, 2'b01};

  logic [QUOTIENT-1:0] dividend;
  logic [26:0] remainder;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [28:0] tried_remainder;
  /* verilator lint_on UNUSEDSIGNAL */
  assign tried_remainder = {1'b0, remainder, dividend[QUOTIENT-1]} - {2'b00, total};

  always_ff @(posedge clk) begin
    done <= 1'b0;
    left <= left - 6'd1;
    if (takes_root) begin
      operand <= operand << 2;
      root <= {root[ROOT-2:0], !tried_rest[ROOT+2]};
      rest <= tried_rest[ROOT+2] ? {rest[ROOT-3:0], operand[2*ROOT-1-:2]} : tried_rest[ROOT-1:0];
      if (left == '0) begin
        takes_root <= 1'b0;
        divides <= 1'b1;
        left <= 6'(QUOTIENT);
      end
    end
    if (divides) begin
      if (left == 6'(QUOTIENT)) begin
        dividend <= {root, 8'd0};
        remainder <= '0;
        value <= '0;
      end else begin
        dividend <= dividend << 1;
        remainder <= tried_remainder[28] ? {remainder[25:0], dividend[QUOTIENT-1]} : tried_remainder[26:0];
        value <= {value[20:0], !tried_remainder[28] && total != '0};
        if (left == '0) begin
          divides <= 1'b0;
          done <= 1'b1;
        end
      end
    end
    if (start) begin
      operand <= {radicand, 16'd0};
      root <= '0;
      rest <= '0;
      left <= 6'(ROOT - 1);
      takes_root <= 1'b1;
      divides <= 1'b0;
    end
    if (rst) begin
      takes_root <= 1'b0;
      divides <= 1'b0;
      done <= 1'b0;
    end
  end
endmodule
