// SPDX-License-Identifier: BSD-3-Clause
// Fixed ratio: the bound of a round from the bits that the round before the last took.
//
// A value takes one bit less when the bound doubles (CEAZ, equation 2). Bounds are a ladder, whose rungs the
// driver spaces: with 2^(1/8) between them, and 2^k values in a round, a shift of k - 3 moves by what was
// missed. What all rounds together missed counts a quarter. A round under an earlier bound moves nothing.
module ratio_control (
  input  logic        clk,
  input  logic        rst,
  input  logic [5:0]  last_rung,
  input  logic [31:0] target,       // bits of a round
  input  logic [4:0]  shift,
  // Rounds in order.
  input  logic        measured,
  input  logic [31:0] measured_bits,
  // The round that follows `rounds` others; the answer stays until the next question.
  input  logic        ask,
  input  logic [31:0] rounds,
  input  logic [5:0]  rung,         // in force
  output logic        answered,
  output logic [5:0]  answer
);
  localparam logic [2:0] IDLE = 3'd0, KNOW = 3'd1, READ = 3'd2, MISS = 3'd3, SUM = 3'd4, WEIGH = 3'd5, SCALE = 3'd6,
                         MOVE = 3'd7;
  localparam logic signed [15:0] MOST = 16'sd32;  // rungs at once
  logic [2:0]  state;
  logic [31:0] bits [0:7];
  logic [31:0] bits_now;
  logic [31:0] known, rung_since;
  logic signed [32:0] miss;
  logic signed [47:0] missed, weighed, scaled, half;
  logic signed [15:0] moved;
  assign half = shift == 0 ? 48'sd0 : 48'sd1 <<< (shift - 5'd1);
  always_ff @(posedge clk) begin
    answered <= 1'b0;
    if (measured) bits[known[2:0]] <= measured_bits;
    bits_now <= bits[3'(rounds - 32'd2)];
    if (rst) begin
      state <= IDLE;
      known <= 32'd0;
      rung_since <= 32'd0;
      missed <= 48'sd0;
    end else begin
      if (measured) known <= known + 32'd1;
      case (state)
        IDLE: if (ask) state <= KNOW;
        KNOW: begin
          answer <= rung;
          if (rounds < 32'd2) begin
            answered <= 1'b1;
            state <= IDLE;
          end else if (known >= rounds - 32'd1) begin
            state <= READ;
          end
        end
        READ: state <= MISS;
        MISS: begin
          miss <= $signed({1'b0, bits_now}) - $signed({1'b0, target});
          state <= SUM;
        end
        SUM: begin
          missed <= missed + 48'(miss);
          state <= WEIGH;
        end
        WEIGH: begin
          weighed <= 48'(miss) + (missed >>> 2) + half;
          state <= SCALE;
        end
        SCALE: begin
          scaled <= weighed >>> shift;  // to the nearest rung
          state <= MOVE;
        end
        MOVE: begin
          if (rounds - 32'd2 >= rung_since) begin
            answer <= moved < 0 ? 6'd0 : moved > $signed({10'b0, last_rung}) ? last_rung : moved[5:0];
            if (moved != $signed({10'b0, rung})) rung_since <= rounds;
          end
          answered <= 1'b1;
          state <= IDLE;
        end
        default: state <= IDLE;
      endcase
    end
  end
  assign moved = $signed({10'b0, rung}) + (scaled > 48'(MOST) ? MOST : scaled < -48'(MOST) ? -MOST : scaled[15:0]);
endmodule
