// SPDX-License-Identifier: BSD-3-Clause
// A block's bound and step, of float64, to what quantizer.sv and dequantizer.sv want to know of them
// (docs/format.md, "Quantization"): B is the bound towards zero, S the step to nearest, t = B - B * 2^-21, I = 1 / S, as
// src/core/engine/quantizer_settings.cpp makes them. About 35 cycles.
module step_settings (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [63:0] bound,          // they stay until the next start
    input  logic [63:0] step_f64,
    output logic        busy,
    output logic        is_none,        // with !busy: negative, infinite or none of a number
    output logic        refused,        // a step or bound that the quantizer does not take
    output neve_pkg::step_settings_t step,
    output logic [27:0] limit           // floor(2 t / ulp) of the first exponent; half of it for each one more
);
  localparam int F32_BIAS = 127;
  localparam int F64_BIAS = 1023;
  localparam int MOST = 96;  // steps are 2^-MOST to 2^MOST

  logic [52:0] bound_significand;
  logic [10:0] bound_f64_exponent, step_f64_exponent;
  assign bound_significand = {1'b1, bound[51:0]};
  assign bound_f64_exponent = bound[62:52];
  assign step_f64_exponent = step_f64[62:52];

  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] ROUND = 3'd1;    // S; B - B * 2^-21 exactly
  localparam logic [2:0] PLACE = 3'd2;    // its first bits
  localparam logic [2:0] TOLERANCE = 3'd3;
  localparam logic [2:0] COMPARE = 3'd4;  // is t above half a step, and not above two?
  localparam logic [2:0] DIVIDE = 3'd5;
  localparam logic [2:0] ROUND_UP = 3'd6;
  localparam logic [2:0] FINISH = 3'd7;
  logic [2:0] state;
  assign busy = state != IDLE;

  logic [24:0] step_rounded;
  logic [10:0] exponent;  // of S, biased as in float64
  logic [44:0] difference;
  logic [23:0] kept;
  logic guard, sticky;
  logic [10:0] t_exponent;
  logic [24:0] t_rounded;
  logic [23:0] t;
  logic [10:0] above;  // binades from S to t, plus 1
  logic [24:0] above_half;  // the step and what t has to have more than half of it, rounded down
  // 2^47 / S, bit by bit.
  logic [4:0] bits_left;
  logic [24:0] remainder, twice_less;
  logic [23:0] quotient;
  logic is_up;
  assign step_rounded = {1'b0, 1'b1, step_f64[51:29]} + 25'(step_f64[28] && (step_f64[27:0] != '0 || step_f64[29]));
  assign t_rounded = {1'b0, kept} + 25'(guard && (sticky || kept[0]));
  assign twice_less = {remainder[23:0], 1'b0} - {1'b0, step.significand};

  always_ff @(posedge clk) begin
    unique case (state)
      ROUND: begin
        step.significand <= {1'b1, step_rounded[22:0]};
        exponent <= step_f64_exponent + 11'(step_rounded[24]);
        step.has_step <= step_f64[62:0] != '0;
        is_none <= &step_f64_exponent || &bound_f64_exponent || (step_f64[63] && step_f64[62:0] != '0) ||
            (bound[63] && bound[62:0] != '0);
        difference <= {bound_significand[52:29], 21'b0} - {21'b0, bound_significand[52:29]};
        state <= PLACE;
      end
      PLACE: begin
        step.is_power <= step.significand[22:0] == '0;
        kept <= difference[44] ? difference[44:21] : difference[43:20];
        guard <= difference[44] ? difference[20] : difference[19];
        sticky <= difference[18:0] != '0 || (difference[44] && difference[19]);
        t_exponent <= bound_f64_exponent - 11'(!difference[44]);
        // Out of reach: no arithmetic below means anything, and nothing is made of it.
        refused <= exponent < 11'(F64_BIAS - MOST) || exponent > 11'(F64_BIAS + MOST) ||
            (exponent == 11'(F64_BIAS + MOST) && step.significand[22:0] != '0);
        state <= TOLERANCE;
      end
      TOLERANCE: begin
        t <= {1'b1, t_rounded[22:0]};
        above_half <= {1'b0, step.significand} + 25'(step.significand[23:19]);
        above <= t_exponent + 11'(t_rounded[24]) + 11'd1 - exponent;
        state <= COMPARE;
      end
      COMPARE: begin
        unique case (above)
          11'd0: refused <= refused || {1'b0, t} <= above_half;
          11'd1: refused <= refused || {t, 1'b0} <= above_half;
          11'd2: refused <= refused || t > step.significand;
          default: refused <= 1'b1;
        endcase
        limit <= 28'(t) << (3'(above[1:0]) + 3'd2);
        step.exponent <= 8'(exponent - 11'(F64_BIAS - F32_BIAS));
        remainder <= 25'(1 << 23);
        quotient <= '0;
        bits_left <= 5'd24;
        state <= DIVIDE;
      end
      DIVIDE: begin
        // No borrow: the step is in twice the remainder.
        remainder <= twice_less[24] ? {remainder[23:0], 1'b0} : twice_less;
        quotient <= {quotient[22:0], !twice_less[24]};
        bits_left <= bits_left - 5'd1;
        if (bits_left == 5'd1) state <= ROUND_UP;
      end
      ROUND_UP: begin
        // No ties: 2^48 is no odd multiple of a step that is no power of two.
        is_up <= !twice_less[24];
        state <= FINISH;
      end
      FINISH: begin
        step.inverse <= step.is_power ? 24'(1 << 23) : quotient + 24'(is_up);
        step.inverse_shift <= 9'(277 - 254) + 9'(step.exponent) + 9'(!step.is_power);
        if (!step.has_step) refused <= 1'b0;
        state <= IDLE;
      end
      default: ;
    endcase
    if (start) state <= ROUND;
    if (rst) state <= IDLE;
  end
endmodule
