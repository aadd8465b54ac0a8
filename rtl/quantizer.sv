// SPDX-License-Identifier: BSD-3-Clause
// A float32 value to its quantization code, one value a cycle, LATENCY cycles later (docs/format.md, "Quantization"):
//   scaled = round(v * I), q = nearest_even(scaled), and the value has it where |scaled| < 2^28 and
//   round(|v - round(q * S)|) <= t; not NaN, infinite, -0 or the fill value.
// Significands are 24 bits with their leading one; exponents are biased as in float32. Values below 2^-126
// count as 0 in v * I, which S >= 2^-96 makes exact: they are far below half a step.
module quantizer (
  input  logic        clk,
  input  logic        rst,               // for at least LATENCY cycles
  // Settings, constant while values are inside.
  input  neve_pkg::quantizer_settings_t settings,

  input  logic        in_valid,
  input  logic [31:0] in_data,
  output logic        out_valid,
  output logic        out_special,       // has no quantization code
  output logic signed [28:0] out_quant_code,
  output logic [31:0] out_data
);
  localparam int LATENCY = 28;

  // A number behind a name is the stage whose registers hold it.
  logic [LATENCY:1] valid;
  logic [31:0] data1, data23;
  // As registers: a shift register of so few places would take a look-up table for each bit.
  (* keep, shreg_extract = "no" *) logic [5*32-1:0] data_after;  // of stages 24 to 28
  always_ff @(posedge clk) begin
    valid <= {valid[LATENCY-1:1], in_valid};
    data1 <= in_data;
    data_after <= {data_after[4*32-1:0], data23};
  end
  delay_line #(.WIDTH(32), .CYCLES(22)) data_delay (.clk(clk), .rst(rst), .in(data1), .out(data23));
  assign out_valid = valid[LATENCY];
  assign out_data = data_after[4*32+:32];

  // What stands in the value's bits.
  logic ones2, negative_zero2, tiny2, is_fill2;
  equality #(.WIDTH(32)) compare_fill (.clk(clk), .a(data1), .b(settings.fill), .equal(is_fill2));
  logic [27:3] special;
  always_ff @(posedge clk) begin
    ones2 <= &data1[30:23];
    negative_zero2 <= data1[31] & ~|data1[30:0];
    tiny2 <= ~|data1[30:23];
    special[3] <= ones2 | negative_zero2 | (settings.has_fill & is_fill2) | ~settings.step.has_step;
  end

  // v * I: exactly, then rounded.
  logic [47:0] scaled_product4;
  logic [23:0] scaled6;
  logic [1:0]  raised6;
  multiplier scale (.clk(clk), .a({1'b1, data1[22:0]}), .b(settings.step.inverse), .product(scaled_product4));
  significand round_scaled (.clk(clk), .product(scaled_product4), .value(scaled6), .raised(raised6));

  // Scaled is significand * 2^place, place = exponents - 277 + raised.
  localparam logic signed [8:0] CERTAINLY_ZERO = -9'sd60;
  (* keep, shreg_extract = "no" *) logic signed [8:0] place2, place3, place4, place5, place6, place7;
  (* keep, shreg_extract = "no" *) logic [23:0] scaled7, scaled8, scaled9, scaled10;
  (* keep, shreg_extract = "no" *) logic [23:7] binades_low, binades_high;  // raised, and 1 for a power: modulo 4
  always_ff @(posedge clk) begin
    place2 <= 9'({1'b0, data1[30:23]} - settings.step.inverse_shift);
    place3 <= tiny2 ? CERTAINLY_ZERO : place2;
    place4 <= place3;
    place5 <= place4;
    place6 <= place5;
    place7 <= place6 + $signed({7'b0, raised6});
    scaled7 <= scaled6;
    scaled8 <= scaled7;
    scaled9 <= scaled8;
    scaled10 <= scaled9;
  end

  // What follows from the place, in a memory that is never written: 2^(24 + place) where that moves the point
  // to bit 24 (0: nothing is left in front of it, and less than a half behind); places above 0; more than 4.
  localparam int POINT = 24;
  localparam int MAX_PLACES = 4;
  (* ram_style = "block" *) logic [POINT+4:0] moves [0:511];
  integer i;
  initial begin
    for (i = 0; i < 512; i = i + 1) moves[i] = 0;
    for (i = 0; i < 256; i = i + 1) begin
      if (i <= POINT) moves[(512 - i) % 512][POINT:0] = 25'd1 << (POINT - i);
      if (i <= MAX_PLACES) moves[i] = {1'b0, 3'(i), 25'd1 << POINT};
      else moves[i][POINT+4] = 1'b1;
    end
  end
  logic [POINT+4:0] moves8, moves9;
  (* keep, shreg_extract = "no" *) logic [POINT:0] power10, power11, power12, power13, power14, power15;
  logic [2:0]  places10;
  logic        too_large10;
  always_ff @(posedge clk) begin
    moves8 <= moves[$unsigned(place7)];
    moves9 <= moves8;
    {too_large10, places10, power10} <= moves9;
    power11 <= power10;
    power12 <= power11;
    power13 <= power12;
    power14 <= power13;
    power15 <= power14;
  end

  // The point moved to bit 24, and rounded there to an integer, ties to even.
  logic [48:0] moved13;
  logic [24:0] whole14, whole15;
  logic        up14;
  multiplier #(.B_BITS(25)) move (.clk(clk), .a(scaled10), .b(power10), .product(moved13));
  adder #(.WIDTH(25)) round_whole (.clk(clk), .subtract(1'b0), .carry(up14), .a(whole14), .b(25'd0), .sum(whole15));
  always_ff @(posedge clk) begin
    whole14 <= moved13[48:24];
    up14 <= moved13[23] & (moved13[24] | |moved13[22:0]);
  end

  // Back where it was, since it is a significand again (or 2^24): 2^(-place) has the same bits in the other direction.
  logic [24:0] unmoves15;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [49:0] quant_code18;
  /* verilator lint_on UNUSEDSIGNAL */
  genvar g;
  generate
    for (g = 0; g <= POINT; g = g + 1) begin : turned
      assign unmoves15[g] = power15[POINT-g];
    end
  endgenerate
  multiplier #(.A_BITS(25), .B_BITS(25)) unmove (.clk(clk), .a(whole15), .b(unmoves15), .product(quant_code18));

  // q * S: exactly, then rounded.
  logic [48:0] decoded_product21;  // less than 2^48
  logic [23:0] decoded23, decoded24;
  logic [1:0]  raised23, binades24;
  multiplier #(.A_BITS(25)) back (
    .clk(clk), .a(quant_code18[24:0]), .b(settings.step.significand), .product(decoded_product21));
  significand round_decoded (.clk(clk), .product(decoded_product21[47:0]), .value(decoded23), .raised(raised23));

  // Binades between v and q * S, plus 1: their exponents' sums cancel, since I is 1 / S. 0 to 3.
  always_ff @(posedge clk) begin
    {binades_high[7], binades_low[7]} <= raised6 + {1'b0, settings.step.is_power};
    binades_low[23:8] <= binades_low[22:7];
    binades_high[23:8] <= binades_high[22:7];
    binades24 <= {binades_high[23], binades_low[23]} + raised23;
    decoded24 <= decoded23;
  end

  // |v - q * S| <= t, in halves of the value's last place, where the difference is exact.
  logic [28:0] error26;
  shift_add #(.VALUE_BITS(24), .PLACE_BITS(2), .WIDTH(29)) difference (
    .clk(clk), .subtract(1'b1), .value(decoded24), .places(binades24),
    .base({4'b0, 1'b1, data_after[32+:23], 1'b0}), .sum(error26));
  logic [7:0]  min_limit;  // the limits' first exponent
  logic [8:0]  above24;
  logic        below25, below26, below27, beyond25, beyond26, beyond27;
  logic [27:0] limit26;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [28:0] over27;  // negative: not within
  /* verilator lint_on UNUSEDSIGNAL */
  block_ram #(.WIDTH(28), .DEPTH(32)) limits (
    .clk(clk), .write(settings.limit_write), .write_addr(settings.limit_addr), .write_data(settings.limit_data),
    .read_addr(above24[4:0]), .read_data(limit26));
  adder #(.WIDTH(29)) compare_limit (
    .clk(clk), .subtract(~error26[28]), .carry(1'b0), .a({1'b0, limit26}), .b(error26), .sum(over27));
  always_ff @(posedge clk) begin
    min_limit <= settings.step.exponent - 8'd2;
    above24 <= {1'b0, data23[30:23]} - {1'b0, min_limit};
    // Below the limits: q is 0, and the value smaller than t.
    below25 <= above24[8];
    beyond25 <= ~above24[8] & |above24[7:5];
    below26 <= below25;
    below27 <= below26;
    beyond26 <= beyond25;
    beyond27 <= beyond26;
    special[10:4] <= special[9:3];
    special[11] <= special[10] | too_large10;
    special[27:12] <= special[26:11];
    out_special <= special[27] | beyond27 | (~below27 & over27[28]);
  end

  // The quantization code with its sign.
  logic [24:0] whole25, whole26;
  (* keep, shreg_extract = "no" *) logic [5*3-1:0] places_after;  // of stages 11 to 15
  logic [2:0]  places25, places26;
  always_ff @(posedge clk) begin
    places_after <= {places_after[4*3-1:0], places10};
    places26 <= places25;
    whole26 <= whole25;
  end
  delay_line #(.WIDTH(28), .CYCLES(10)) whole_delay (
    .clk(clk), .rst(rst), .in({places_after[4*3+:3], whole15}), .out({places25, whole25}));
  shift_add #(.VALUE_BITS(25), .PLACE_BITS(3), .WIDTH(29)) signed_quant_code (
    .clk(clk), .subtract(data_after[2*32+31]), .value(whole26), .places(places26), .base(29'd0), .sum(out_quant_code));
endmodule
