// SPDX-License-Identifier: BSD-3-Clause
// A quantization code to its value q * S: q rounded to float32, the product rounded to float32, both ties to even, as
// dequantize_one() in src/core/kernels/portable.hpp. Steps are those of quantizer.sv, so that no product leaves float32's normal
// range. Values that are given as they are take the same way. One a cycle, LATENCY cycles later.
module dequantizer (
    input  logic        clk,
    input  logic        rst,
    input  neve_pkg::step_settings_t step,
    input  logic        in_valid,
    input  logic        in_exact,
    input  logic [31:0] in_value,       // where exact
    input  logic [31:0] in_quant_code,  // modulo 2^32
    output logic        out_valid,
    output logic [31:0] out_value
);
  localparam int LATENCY = 12;

  // A number behind a name is the stage whose registers hold it.
  logic [LATENCY:1] valid;
  logic [LATENCY-1:1] exact, negative;
  logic [31:0] value[1:LATENCY-1];
  always_ff @(posedge clk) begin
    valid <= {valid[LATENCY-1:1], in_valid};
    exact <= {exact[LATENCY-2:1], in_exact};
    negative <= {negative[LATENCY-2:1], in_quant_code[31]};
    value[1] <= in_value;
    for (int i = 2; i < LATENCY; i++) value[i] <= value[i-1];
    if (rst) valid <= '0;
  end

  // Magnitude, its highest bit moved to the top.
  logic [31:0] quant_code1, size2, size3, size4, size5;
  logic [4:3] lead3;
  logic [4:1] lead4;
  logic [4:0] lead5;  // zeros in front of it
  logic no_bytes, no_nibble;
  assign no_bytes = size2[31:16] == '0;
  logic [31:0] half2;
  assign half2 = no_bytes ? size2 << 16 : size2;
  assign no_nibble = half2[31:24] == '0;
  logic [31:0] half3;
  logic no_four, no_two;
  assign no_four = size3[31:28] == '0;
  assign half3 = no_four ? size3 << 4 : size3;
  assign no_two = half3[31:30] == '0;
  always_ff @(posedge clk) begin
    quant_code1 <= in_quant_code;
    size2 <= quant_code1[31] ? -quant_code1 : quant_code1;
    lead3 <= {no_bytes, no_nibble};
    size3 <= no_nibble ? half2 << 8 : half2;
    lead4 <= {lead3, no_four, no_two};
    size4 <= no_two ? half3 << 2 : half3;
    lead5 <= {lead4, !size4[31]};
    size5 <= size4[31] ? size4 : size4 << 1;
  end

  // Rounded to 24 bits.
  logic [24:0] rounded6;
  logic [4:0] lead6;
  logic zero6;
  logic [23:0] significand6;
  assign significand6 = {rounded6[24] | rounded6[23], rounded6[22:0]};
  always_ff @(posedge clk) begin
    rounded6 <= {1'b0, size5[31:8]} + 25'(size5[7] && (size5[6:0] != '0 || size5[8]));
    lead6 <= lead5;
    zero6 <= !size5[31] || !step.has_step;
  end

  // Times the step; its exponent beside it.
  logic [47:0] product9;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [23:0] significand11;  // its highest bit is 1
  /* verilator lint_on UNUSEDSIGNAL */
  logic [1:0] raised11;
  multiplier times_step (
      .clk,
      .a(significand6),
      .b(step.significand),
      .product(product9)
  );
  significand round_product (
      .clk,
      .product(product9),
      .value(significand11),
      .raised(raised11)
  );
  logic [7:0] exponent7, exponent8, exponent9, exponent10, exponent11;
  logic [11:7] zero;
  always_ff @(posedge clk) begin
    exponent7 <= step.exponent + 8'd31 - 8'(lead6) + 8'(rounded6[24]);
    exponent8 <= exponent7;
    exponent9 <= exponent8;
    exponent10 <= exponent9;
    exponent11 <= exponent10;
    zero <= {zero[10:7], zero6};
    out_value <= exact[11] ? value[11] :
        zero[11] ? '0 : {negative[11], exponent11 + 8'(raised11), significand11[22:0]};
  end
  assign out_valid = valid[LATENCY];
endmodule
