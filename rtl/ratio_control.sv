// SPDX-License-Identifier: BSD-3-Clause
// Fixed ratio: the bound of a round from the bits that the round before the last took.
//
// A value takes one bit less when the bound doubles (CEAZ, equation 2). Bounds are a ladder, whose rungs the
// driver spaces: with 2^(1/8) between them, and 2^k values in a round, a shift of k - 3 moves by what was
// missed. What all rounds together missed counts a quarter. A round under an earlier bound moves nothing.
// There is time: sums are made a bit a cycle, the lowest first.
module ratio_control (
  input  logic        clk,
  input  logic        rst,
  input  logic [5:0]  last_rung,
  input  logic [31:0] target,       // bits of a round
  input  logic [4:0]  shift,
  // Rounds in order, at most 7 behind the questions.
  input  logic        measured,
  input  logic [31:0] measured_bits,
  // Once for every round but the first, which no rounds are before; the answer stays until the next question.
  input  logic        ask,
  input  logic [5:0]  rung,         // in force
  output logic        answered,
  output logic [5:0]  answer
);
  localparam logic [2:0] IDLE = 3'd0, KNOW = 3'd1, RUN = 3'd2, LIMIT = 3'd3, MOVE = 3'd4, ANSWER = 3'd5;
  localparam int BITS = 50;                     // of what all rounds missed
  localparam logic signed [7:0] MOST = 8'sd32;  // rungs at once
  logic [2:0]  state;
  logic [3:0]  asked, known;
  logic [1:0]  asked_before, asked_since;  // rounds before, unary up to 2: at all, and since a change of rung
  logic        is_known;

  logic [31:0] bits_now;
  block_ram #(.WIDTH(32), .DEPTH(8)) bits (
    .clk(clk), .write(measured), .write_addr(known[2:0]), .write_data(measured_bits),
    .read_addr(3'(asked - 4'd2)), .read_data(bits_now));

  // 0: a bit of what the round missed; 1: added to what all missed; and a quarter of that, two bits on, to the former.
  logic [5:0]  at;
  logic        bit0, target0, borrow, runs1, carry1, weighed_carry1, missed_sum1, weighed1;
  logic [3:1]  miss;
  logic [BITS-1:0] missed;
  assign bit0 = ~at[5] & bits_now[at[4:0]];
  assign target0 = ~at[5] & target[at[4:0]];
  assign missed_sum1 = missed[0] ^ miss[1] ^ carry1;
  assign weighed1 = miss[3] ^ missed_sum1 ^ weighed_carry1;

  // What is left of the sum behind `shift` bits: to the nearest rung, by the last bit before.
  logic [5:0]  left;   // bits to be passed over, 2 of them before the sum begins
  logic [2:0]  taken;
  logic        rounds, exceeds, sign;
  logic [6:0]  moves;
  logic signed [7:0] moves_now, moved;
  always_ff @(posedge clk) begin
    answered <= 1'b0;
    is_known <= 4'(asked - known) < 4'd2;
    runs1 <= state == RUN & at < 6'(BITS);
    if (rst) begin
      state <= IDLE;
      asked <= 4'd1;
      known <= 4'd0;
      asked_before <= 2'b01;
      asked_since <= 2'b01;
      missed <= '0;
    end else begin
      if (measured) known <= known + 4'd1;
      case (state)
        IDLE: if (ask) state <= KNOW;
        KNOW: begin
          answer <= rung;
          if (~asked_before[1]) begin
            answered <= 1'b1;
            asked_since <= {asked_since[0], 1'b1};
            state <= IDLE;
          end else if (is_known) begin
            state <= RUN;
          end
        end
        RUN: if (at == 6'(BITS + 1)) state <= LIMIT;
        LIMIT: state <= MOVE;
        MOVE: state <= ANSWER;
        ANSWER: begin
          asked_since <= {asked_since[0], 1'b1};
          if (asked_since[1]) begin
            answer <= moved < 0 ? 6'd0 : moved > $signed({2'b00, last_rung}) ? last_rung : moved[5:0];
            if (moved[6:0] != {1'b0, rung}) asked_since <= 2'b01;
          end
          answered <= 1'b1;
          state <= IDLE;
        end
        default: state <= IDLE;
      endcase
      if (answered) begin
        asked <= asked + 4'd1;
        asked_before <= {asked_before[0], 1'b1};
      end
      if (runs1) missed <= {missed_sum1, missed[BITS-1:1]};
    end

    // MOST and more, or less than -MOST.
    if (state == LIMIT)
      moves_now <= exceeds ? (sign ? -MOST : MOST) : ~moves[6] & moves[5] ? MOST : moves[6] & ~moves[5] ? -MOST
                   : $signed({moves[6], moves}) + $signed({7'd0, rounds});
    moved <= $signed({2'b00, rung}) + moves_now;

    at <= state == RUN ? at + 6'd1 : 6'd0;
    borrow <= state == RUN & ((target0 & borrow) | (~bit0 & (target0 | borrow)));
    miss <= state == RUN ? {miss[2:1], bit0 ^ target0 ^ borrow} : 3'd0;
    carry1 <= runs1 & ((missed[0] & miss[1]) | (carry1 & (missed[0] | miss[1])));
    if (state != RUN) begin
      weighed_carry1 <= 1'b0;
      left <= {1'b0, shift} + 6'd2;
      taken <= 3'd0;
      rounds <= 1'b0;
      exceeds <= 1'b0;
    end else if (runs1) begin
      // The two lowest bits of a quarter lie below the sum.
      if (at != 6'd1 & at != 6'd2)
        weighed_carry1 <= (miss[3] & missed_sum1) | (weighed_carry1 & (miss[3] | missed_sum1));
      if (left != 6'd0) begin
        left <= left - 6'd1;
        rounds <= weighed1 & shift != 5'd0;
      end else if (taken != 3'd7) begin
        taken <= taken + 3'd1;
        moves <= {weighed1, moves[6:1]};
      end else begin
        if (weighed1 != moves[6]) exceeds <= 1'b1;
        sign <= weighed1;
      end
    end
  end
endmodule
