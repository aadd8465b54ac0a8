// SPDX-License-Identifier: BSD-3-Clause
// A float32 value to its quantum, one value a cycle, LATENCY cycles later (docs/format.md, "Quantization"):
//   scaled = round(v * I), q = nearest_even(scaled), and the value has it where |scaled| < 2^28 and
//   round(|v - round(q * S)|) <= t; not NaN, infinite, -0 or the fill value.
// Significands are 24 bits with their leading one; exponents are biased as in float32. Values below 2^-126
// count as 0 in v * I, which S >= 2^-96 makes exact: they are far below half a step.
module quantizer (
  input  logic        clk,
  input  logic        rst,               // for at least LATENCY cycles
  // Settings, constant while values are inside.
  input  logic        has_step,          // without one nothing has a quantum
  input  logic [23:0] inverse,           // significand of I
  input  logic [8:0]  inverse_shift,     // 277 - exponent of I
  input  logic [23:0] step,              // significand of S
  input  logic [7:0]  step_exponent,
  input  logic        is_power,          // exponents of S and I add up to 254, not 253
  input  logic        has_fill,
  input  logic [31:0] fill,
  // floor(2 t / ulp) for values of exponent step_exponent - 2 + address.
  input  logic        limit_write,
  input  logic [4:0]  limit_addr,
  input  logic [27:0] limit_data,

  input  logic        in_valid,
  input  logic [31:0] in_data,
  output logic        out_valid,
  output logic        out_special,       // has no quantum
  output logic signed [28:0] out_quantum,
  output logic [31:0] out_data
);
  localparam int LATENCY = 22;

  // A number behind a name is the stage whose registers hold it.
  logic [LATENCY:1] valid;
  logic [31:0] data1, data18;
  (* keep, shreg_extract = "no" *) logic [4*32-1:0] data_after;  // of stages 19 to 22
  integer i;
  always_ff @(posedge clk) begin
    valid[1] <= in_valid;
    data1 <= in_data;
    for (i = 2; i <= LATENCY; i = i + 1) valid[i] <= valid[i-1];
    data_after <= {data_after[3*32-1:0], data18};
  end

  // 17 cycles from 1 to 18 in a memory, which costs no tables: written 15 cycles before it is read.
  logic [3:0] delay_at, delay_at_before;
  always_ff @(posedge clk) begin
    delay_at <= rst ? 4'd0 : delay_at + 4'd1;
    delay_at_before <= delay_at;
  end
  block_ram #(.WIDTH(32), .DEPTH(16)) delay (
    .clk(clk), .write(1'b1), .write_addr(delay_at_before), .write_data(data1), .read_addr(delay_at),
    .read_data(data18));
  assign out_valid = valid[LATENCY];
  assign out_data = data_after[3*32+:32];

  // What stands in the value's bits.
  logic ones2, negative_zero2, tiny2;
  logic [7:0] differs2;  // from the fill value, in groups of 4 bits
  logic special3;
  integer g;
  always_ff @(posedge clk) begin
    ones2 <= &data1[30:23];
    negative_zero2 <= data1[31] & ~|data1[30:0];
    tiny2 <= ~|data1[30:23];
    for (g = 0; g < 8; g = g + 1) differs2[g] <= data1[4*g+:4] != fill[4*g+:4];
    special3 <= ones2 | negative_zero2 | (has_fill & ~|differs2) | ~has_step;
  end

  // v * I: exactly, then rounded.
  logic [47:0] scaled_product4;
  logic [23:0] scaled6;
  logic [1:0]  raised6;
  multiplier scale (.clk(clk), .a({1'b1, data1[22:0]}), .b(inverse), .product(scaled_product4));
  significand round_scaled (.clk(clk), .product(scaled_product4), .value(scaled6), .raised(raised6));

  // How many bits of the significand lie behind the binary point: k = 277 - exponents - raised.
  localparam logic signed [9:0] CERTAINLY_ZERO = 10'sd60;
  (* keep, shreg_extract = "no" *) logic signed [9:0] k2, k3, k4, k5, k6, k7;
  (* keep, shreg_extract = "no" *) logic [23:0] scaled7, scaled8, scaled9;
  (* keep, shreg_extract = "no" *) logic [1:0]  raised7, raised8;
  logic [4:0]  places8;   // k, where it is 1 to 24; 25 for more, 0 for less
  logic [4:0]  shift8;    // k + 4
  logic        too_large8;    // 2^28 and more
  logic [23:0] behind9;   // the bits behind the point
  always_ff @(posedge clk) begin
    k2 <= $signed({1'b0, inverse_shift}) - $signed({2'b0, data1[30:23]});
    k3 <= tiny2 ? CERTAINLY_ZERO : k2;
    k4 <= k3;
    k5 <= k4;
    k6 <= k5;
    k7 <= k6 - $signed({8'b0, raised6});
    scaled7 <= scaled6;
    raised7 <= raised6;

    // k < -4; and k > 24, both without a carry.
    too_large8 <= k7[9] & ~&k7[8:2];
    places8 <= k7[9] ? 5'd0 : |k7[8:5] | (&k7[4:3] & |k7[2:0]) ? 5'd25 : k7[4:0];
    shift8 <= k7[4:0] + 5'd4;
    scaled8 <= scaled7;
    raised8 <= raised7;

    for (i = 0; i < 24; i = i + 1) behind9[i] <= places8 > 5'(i);
    scaled9 <= scaled8;
  end

  // Rounded to an integer where it stands, ties to even. Places of 25: below a half, nothing stays.
  logic [23:0] scaled10, behind10, behind11;
  logic [24:0] sum11, whole;
  logic        half10, sticky10, odd10, less9;
  logic [23:0] quantum12;   // significand
  logic [28:0] integer12;   // with 4 bits behind the point of shift 4
  logic        carried12, zero12;
  assign whole = sum11 & ~{1'b0, behind11};
  always_ff @(posedge clk) begin
    less9 <= places8 == 5'd25;
    half10 <= |(scaled9 & behind9 & ~(behind9 >> 1)) & ~less9;
    sticky10 <= |(scaled9 & (behind9 >> 1));
    odd10 <= |(scaled9 & ~behind9 & {behind9[22:0], 1'b1});
    scaled10 <= scaled9;
    behind10 <= behind9;

    sum11 <= {1'b0, scaled10 | behind10} + {24'b0, half10 & (sticky10 | odd10)};
    behind11 <= behind10;

    quantum12 <= {whole[24] | whole[23], whole[22:0]};
    integer12 <= {whole, 4'b0};
    carried12 <= whole[24];
    zero12 <= ~whole[24] & ~whole[23];
  end

  // The quantum as an integer.
  (* keep, shreg_extract = "no" *) logic [4:0]  shift9, shift10, shift11, shift12;
  logic [2:0]  shift13;
  logic        shift14;
  logic [28:0] integer13, integer14;
  // As registers: a shift register of so few places would take a look-up table for each bit.
  (* keep, shreg_extract = "no" *) logic [7*28-1:0] quanta;  // of stages 15 to 21
  logic [27:0] quantum21;
  assign quantum21 = quanta[6*28+:28];
  always_ff @(posedge clk) begin
    shift9 <= shift8;
    shift10 <= shift9;
    shift11 <= shift10;
    shift12 <= shift11;
    shift13 <= shift12[2:0];
    shift14 <= shift13[0];
    integer13 <= integer12 >> {shift12[4:3], 3'b0};
    integer14 <= integer13 >> {shift13[2:1], 1'b0};
    quanta <= {quanta[6*28-1:0], 28'(integer14 >> shift14)};
  end

  // q * S: exactly, then rounded.
  logic [47:0] decoded_product15;
  logic [23:0] decoded17, decoded18;
  logic [1:0]  raised17;
  multiplier back (.clk(clk), .a(quantum12), .b(step), .product(decoded_product15));
  significand round_decoded (.clk(clk), .product(decoded_product15), .value(decoded17), .raised(raised17));

  // Binades between v and q * S, plus 1: their exponents' sums cancel, since I is 1 / S. 0 to 3.
  (* keep, shreg_extract = "no" *) logic [1:0] raised9, raised10, raised11, raised12;
  // Modulo 4: what they come to is.
  (* keep, shreg_extract = "no" *) logic [1:0] binades13, binades14, binades15, binades16, binades17;
  logic [1:0] binades18;
  logic [17:13] zero;
  logic [26:0] decoded19;
  logic        zero18;
  always_ff @(posedge clk) begin
    raised9 <= raised8;
    raised10 <= raised9;
    raised11 <= raised10;
    raised12 <= raised11;
    binades13 <= raised12 + {1'b0, carried12} + {1'b0, is_power};
    binades14 <= binades13;
    binades15 <= binades14;
    binades16 <= binades15;
    binades17 <= binades16;
    binades18 <= binades17 + raised17;
    zero[13] <= zero12;
    for (i = 14; i <= 17; i = i + 1) zero[i] <= zero[i-1];
    zero18 <= zero[17];
    decoded18 <= decoded17;
    decoded19 <= zero18 ? 27'd0 : {3'b0, decoded18} << binades18;
  end

  // |v - q * S| <= t, in halves of the value's last place, where the difference is exact.
  logic [27:0] limits [0:31];
  logic [8:0]  above19;  // the limits' first exponent
  logic        below20, beyond20;
  logic [27:0] limit20;
  logic signed [28:0] error20;
  // limit - |error| in one adder, whose lowest place is for a carry: -|error| is ~error + 1 or the error.
  logic        positive20;
  logic [27:0] opposed;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [30:0] over;
  /* verilator lint_on UNUSEDSIGNAL */
  logic within21, in_reach21;
  assign positive20 = ~error20[28];
  assign opposed = error20[27:0] ^ {28{positive20}};
  assign over = {2'b11, opposed, positive20} + {2'b0, limit20, 1'b1};
  always_ff @(posedge clk) begin
    if (limit_write) limits[limit_addr] <= limit_data;
    above19 <= {1'b0, data18[30:23]} - {1'b0, step_exponent} + 9'd2;
    below20 <= above19[8];
    beyond20 <= ~above19[8] & |above19[7:5];
    limit20 <= limits[above19[4:0]];
    error20 <= $signed({4'b0, 1'b1, data_after[22:0], 1'b0}) - $signed({2'b0, decoded19});
    // Below the limits: q is 0, and the value smaller than t.
    within21 <= below20 | ~over[30];
    in_reach21 <= ~beyond20;
  end

  logic negative21;
  assign negative21 = data_after[2*32+31];
  logic [21:4] special;
  logic [21:9] too_large;
  always_ff @(posedge clk) begin
    special[4] <= special3;
    for (i = 5; i <= 21; i = i + 1) special[i] <= special[i-1];
    too_large[9] <= too_large8;
    for (i = 10; i <= 21; i = i + 1) too_large[i] <= too_large[i-1];
    out_special <= special[21] | too_large[21] | ~within21 | ~in_reach21;
    out_quantum <= $signed(({1'b0, quantum21} ^ {29{negative21}}) + 29'(negative21));
  end
endmodule
