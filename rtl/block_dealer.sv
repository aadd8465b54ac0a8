// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a stream to the lanes in turn, round after round, with the place where each begins. A round's bound may be
// another one: then it waits until the lanes are empty and have their settings.
module block_dealer #(
  parameter int LANES = 1,
  parameter int BLOCK_BITS = 12
) (
  input  logic        clk,
  input  logic        rst,
  input  logic        start,
  output logic        busy,
  output logic        lane_rst,
  output logic        clears,            // counts, at clear_at
  output logic [9:0]  clear_at,
  output logic        start_framer,
  input  logic        ended,             // the stream's last word leaves

  // Registers.
  input  logic [47:0] total,
  input  logic [BLOCK_BITS:0] block_values,
  input  logic [15:0] line_last,
  input  logic [15:0] plane_last,
  input  logic [15:0] block_x_step,
  input  logic [15:0] block_y_step,
  input  logic        holds_ratio,
  input  logic [5:0]  first_rung,

  // The bound of the next round (ratio_control.sv), and its settings (rung_settings.sv).
  output logic        asks,
  input  logic        answered,
  input  logic [5:0]  next_rung,
  output logic [5:0]  rung,
  output logic        load_start,
  input  logic        loaded,

  // Blocks.
  input  logic [LANES-1:0] lane_empty,
  output logic [LANES-1:0] block_valid,
  input  logic [LANES-1:0] block_ready,
  output logic [BLOCK_BITS:0] values_now,
  output logic        is_first,
  output logic        has_new_step,      // since the round before
  output logic [15:0] x,
  output logic [15:0] y,

  // Rounds, counted modulo 16, and what later steps ask of one.
  output logic [3:0]  dealt_rounds,
  input  logic [3:0]  chosen_rounds,
  output logic [6:0]  chosen_lanes,
  input  logic [3:0]  framed_rounds,
  output logic [6:0]  framed_lanes,
  output logic        framed_is_last,
  output logic        framed_has_step,
  output logic [5:0]  framed_rung
);
  localparam logic [2:0] IDLE = 3'd0, CLEAR = 3'd1, ROUND = 3'd2, ASK = 3'd3, DRAIN = 3'd4, LOAD = 3'd5,
                         DEAL = 3'd6, FINISH = 3'd7;
  logic [2:0]  state;
  logic [10:0] clear_count;
  logic [47:0] left;
  logic [15:0] x_next, y_next;
  logic [16:0] x_sum, y_sum, y_carried;
  logic [LANES-1:0] deals_to;
  logic        deals_now, block_is_last;
  logic [6:0]  dealt_lanes;
  logic        all_empty;

  // What later steps need to know of a round, by its number modulo 8. Rounds are counted modulo 16: no more than 7 are
  // on their way.
  logic [6:0]  round_lanes [0:7];
  logic        round_is_last [0:7];
  logic        round_has_step [0:7];
  logic [5:0]  round_rung [0:7];
  logic        has_slot;

  assign block_is_last = ~|left[47:BLOCK_BITS+1] & left[BLOCK_BITS:0] <= block_values;
  assign values_now = block_is_last ? left[BLOCK_BITS:0] : block_values;
  assign deals_now = state == DEAL & |(deals_to & block_ready);
  assign lane_rst = rst | (state == CLEAR & clear_count < 11'd64);
  assign clears = state == CLEAR & clear_count >= 11'd1024;
  assign clear_at = clear_count[9:0];
  assign block_valid = state == DEAL ? deals_to : '0;
  assign busy = state != IDLE;
  assign load_start = state == DRAIN & all_empty;
  assign asks = state == ROUND & has_slot & holds_ratio;
  assign start_framer = state == CLEAR & &clear_count;
  // Where the next block stands: a block further.
  assign x_sum = {1'b0, x} + {1'b0, block_x_step};
  assign x_next = x_sum > {1'b0, line_last} ? 16'(x_sum - {1'b0, line_last} - 17'd1) : x_sum[15:0];
  assign y_sum = {1'b0, y} + {1'b0, block_y_step};
  assign y_carried = y_sum + (x_sum > {1'b0, line_last} ? 17'd1 : 17'd0);
  assign y_next = y_carried > {1'b0, plane_last} ? 16'(y_carried - {1'b0, plane_last} - 17'd1) : y_carried[15:0];
  always_ff @(posedge clk) begin
    all_empty <= &lane_empty & state == DRAIN;
    has_slot <= 4'(dealt_rounds - framed_rounds) < 4'd7;
    if (rst) begin
      state <= IDLE;
    end else begin
      case (state)
        IDLE: begin
          clear_count <= 11'd0;
          left <= total;
          x <= 16'd0;
          y <= 16'd0;
          dealt_rounds <= 4'd0;
          is_first <= 1'b1;
          rung <= first_rung;
          if (start) state <= CLEAR;
        end
        CLEAR: begin
          clear_count <= clear_count + 11'd1;
          if (&clear_count) state <= DRAIN;
        end
        ROUND: begin
          // A bound follows from the round before the last; it changes where no value is inside.
          deals_to <= LANES'(1);
          dealt_lanes <= 7'd1;
          has_new_step <= 1'b0;
          if (has_slot) state <= holds_ratio ? ASK : DEAL;
        end
        ASK: if (answered) begin
          rung <= next_rung;
          state <= next_rung != rung ? DRAIN : DEAL;
        end
        DRAIN: if (all_empty) state <= LOAD;
        LOAD: begin
          has_new_step <= 1'b1;
          deals_to <= LANES'(1);
          dealt_lanes <= 7'd1;
          if (loaded) state <= DEAL;
        end
        DEAL: if (deals_now) begin
          is_first <= 1'b0;
          deals_to <= deals_to << 1;
          dealt_lanes <= dealt_lanes + 7'd1;
          left <= left - 48'(block_values);  // of the last one nothing is left
          x <= x_next;
          y <= y_next;
          if (deals_to[LANES-1] | block_is_last) begin
            dealt_rounds <= dealt_rounds + 4'd1;
            state <= block_is_last ? FINISH : ROUND;
          end
        end
        FINISH: if (ended) state <= IDLE;
        default: state <= IDLE;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (deals_now) begin
      round_lanes[dealt_rounds[2:0]] <= dealt_lanes;
      round_is_last[dealt_rounds[2:0]] <= block_is_last;
      round_has_step[dealt_rounds[2:0]] <= has_new_step;
      round_rung[dealt_rounds[2:0]] <= rung;
    end
  end
  assign chosen_lanes = round_lanes[chosen_rounds[2:0]];
  assign framed_lanes = round_lanes[framed_rounds[2:0]];
  assign framed_is_last = round_is_last[framed_rounds[2:0]];
  assign framed_has_step = round_has_step[framed_rounds[2:0]];
  assign framed_rung = round_rung[framed_rounds[2:0]];
endmodule
