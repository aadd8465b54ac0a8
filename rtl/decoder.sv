// SPDX-License-Identifier: BSD-3-Clause
// A stream back to its values: AXI4-Stream of its bytes in, as the engine emits them, AXI4-Stream of float32 values out.
// One block is decoded while the next one is read; values leave when their block's checksum has been compared.
//
// Streams follow one another, each ended by tlast. Each gives one tlast at the output: with its last value or, where the
// stream is refused or ends in a block without values, on a word without bytes.
module decoder #(
    parameter int BYTES = 16,       // of a word of the stream: 4, 8, 16 or 32
    parameter int BLOCK_BITS = 12,  // stream_reader.sv
    parameter int LINE_BITS = 12,
    parameter int PLANE_BITS = 12   // not less than LINE_BITS
) (
    input  logic               clk,
    input  logic               rst,
    output logic               busy,
    output logic               failed,    // until the next stream begins
    output logic [        3:0] failure,   // why: a number of neve_pkg.sv
    input  logic               s_axis_tvalid,
    output logic               s_axis_tready,
    input  logic [8*BYTES-1:0] s_axis_tdata,
    input  logic [  BYTES-1:0] s_axis_tkeep,
    input  logic               s_axis_tlast,
    output logic               m_axis_tvalid,
    input  logic               m_axis_tready,
    output logic [       31:0] m_axis_tdata,
    output logic [        3:0] m_axis_tkeep,
    output logic               m_axis_tlast
);
  // --- bytes to blocks ---------------------------------------------------------------------------------------------
  logic in_header, drops, lane_failed, finished, ended;
  logic [1:0] dims;
  logic [LINE_BITS-1:0] line_last;
  logic [15:0] plane_last;
  logic [PLANE_BITS:0] plane_values;
  logic has_fill;
  logic [31:0] fill;
  logic load, load_ready, length_valid, length_ready, loaded, complete;
  logic [neve_pkg::LENGTH_BITS-1:0] length;
  logic block_valid, block_taken, block_takes_codebook, block_restart, block_has_step, block_is_last;
  logic [BLOCK_BITS:0] block_values, block_symbols;
  logic [BLOCK_BITS+1:0] block_code_bytes;
  logic [BLOCK_BITS+2:0] block_side_bytes;
  neve_pkg::step_settings_t next_step;
  logic [27:0] next_limit;
  logic code_write, code_room, side_write, side_room;
  logic [31:0] part_word;
  stream_reader #(
      .BYTES(BYTES),
      .BLOCK_BITS(BLOCK_BITS),
      .LINE_BITS(LINE_BITS),
      .PLANE_BITS(PLANE_BITS)
  ) reader (
      .clk,
      .rst,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .busy,
      .in_header,
      .failed,
      .failure,
      .lane_failed,
      .drops,
      .finished,
      .ended,
      .dims,
      .line_last,
      .plane_last,
      .plane_values,
      .has_fill,
      .fill,
      .load,
      .load_ready,
      .length_valid,
      .length_ready,
      .length,
      .loaded,
      .complete,
      .block_valid,
      .block_taken,
      .block_takes_codebook,
      .block_restart,
      .block_has_step,
      .block_is_last,
      .block_values,
      .block_symbols,
      .block_code_bytes,
      .block_side_bytes,
      .step(next_step),
      .limit(next_limit),
      .code_write,
      .code_room,
      .side_write,
      .side_room,
      .part_word
  );

  // --- codes and side stream of the block that is decoded and of the next one --------------------------------------
  // Each has room for the most that one block can have.
  logic lane_rst, code_valid, code_ready, word_valid, word_ready, side_valid, side_ready, is_high_half, starts;
  logic [31:0] code_word, side_word;
  logic [15:0] side_half;
  word_fifo #(
      .WIDTH(32),
      .DEPTH_BITS(BLOCK_BITS)
  ) codes (
      .clk,
      .rst(lane_rst),
      .has_room(code_room),
      .in_valid(code_write),
      .in_data(part_word),
      .out_valid(code_valid),
      .out_ready(code_ready),
      .out_data(code_word)
  );
  word_fifo #(
      .WIDTH(32),
      .DEPTH_BITS(BLOCK_BITS + 1)
  ) sides (
      .clk,
      .rst(lane_rst),
      .has_room(side_room),
      .in_valid(side_write),
      .in_data(part_word),
      .out_valid(word_valid),
      .out_ready(word_ready),
      .out_data(side_word)
  );
  // Words to halves; a block that ends with the first of them leaves the other one behind.
  logic drops_half;
  assign side_half = is_high_half ? side_word[31:16] : side_word[15:0];
  assign side_valid = word_valid && !drops_half;
  assign word_ready = drops_half || (is_high_half && side_ready);
  assign drops_half = starts && is_high_half;
  always_ff @(posedge clk) begin
    if (side_valid && side_ready) is_high_half <= !is_high_half;
    if (starts || lane_rst) is_high_half <= 1'b0;
  end

  // --- blocks to values --------------------------------------------------------------------------------------------
  logic lane_done, lane_has_failed, value_valid, out_room;
  neve_pkg::step_settings_t step;
  logic [27:0] limit;
  neve_pkg::quantizer_settings_t settings;
  logic [31:0] value;
  decoder_lane #(
      .BLOCK_BITS(BLOCK_BITS),
      .LINE_BITS (LINE_BITS),
      .PLANE_BITS(PLANE_BITS)
  ) lane (
      .clk,
      .rst(lane_rst),
      .settings,
      .dims,
      .line_last,
      .plane_last,
      .plane_values,
      .load,
      .load_ready,
      .length_valid,
      .length_ready,
      .length,
      .loaded,
      .complete,
      .start(starts),
      .takes_codebook(block_takes_codebook),
      .block_restart,
      .block_values,
      .block_symbols,
      .code_bytes(block_code_bytes),
      .side_bytes(block_side_bytes),
      .done(lane_done),
      .failed(lane_has_failed),
      .code_valid,
      .code_ready,
      .code_word,
      .side_valid,
      .side_ready,
      .side_half,
      .out_valid(value_valid),
      .out_ready(out_room),
      .out_value(value)
  );

  localparam logic [2:0] WAIT = 3'd0;
  localparam logic [2:0] DRAIN = 3'd1;   // values of the step before
  localparam logic [2:0] LIMITS = 3'd2;  // of a new step
  localparam logic [2:0] RUN = 3'd3;
  localparam logic [2:0] LAST = 3'd4;    // values on their way
  localparam logic [2:0] CLOSE = 3'd5;
  localparam logic [2:0] DROP = 3'd6;    // what is left of a stream that is refused
  localparam int LANE_CYCLES = 40;       // more than a value is under_way the lane
  logic [2:0] state;
  logic [5:0] at;
  logic is_last, needs_end, has_new_step;
  logic [BLOCK_BITS+1:0] under_way;  // values of started blocks that have not come out
  logic puts_end;
  assign starts = state == WAIT && block_valid && block_values != '0 && !(block_has_step && !has_new_step);
  assign block_taken = starts || (state == WAIT && block_valid && block_values == '0);
  assign puts_end = state == CLOSE && needs_end && out_room;
  assign finished = state == DROP && ended;
  assign lane_rst = rst || in_header || (state == DROP);
  assign settings.step = step;
  assign settings.has_fill = has_fill;
  assign settings.fill = fill;
  assign settings.limit_write = state == LIMITS;
  assign settings.limit_addr = at[4:0];
  assign settings.limit_data = limit;

  always_ff @(posedge clk) begin
    lane_failed <= 1'b0;
    at <= '0;
    if (value_valid) under_way <= under_way - (BLOCK_BITS + 2)'(1);
    unique case (state)
      WAIT: begin
        if (block_valid) begin
          is_last <= block_is_last;
          if (block_values == '0) begin
            needs_end <= 1'b1;
            state <= CLOSE;
          end else if (starts) begin
            has_new_step <= 1'b0;
            state <= RUN;
          end else begin
            state <= DRAIN;
          end
        end else if (drops) begin
          needs_end <= 1'b1;
          state <= LAST;
        end
      end
      DRAIN: begin
        at <= at + 6'd1;
        if (at == 6'(LANE_CYCLES)) begin
          at <= '0;
          step <= next_step;
          limit <= next_limit;
          state <= LIMITS;
        end
      end
      LIMITS: begin
        at <= at + 6'd1;
        limit <= limit >> 1;
        if (at[4:0] == '1) begin
          has_new_step <= 1'b1;
          state <= WAIT;
        end
      end
      RUN: begin
        if (lane_done) begin
          lane_failed <= lane_has_failed;
          needs_end <= lane_has_failed;
          state <= lane_has_failed || is_last ? LAST : WAIT;
        end
      end
      LAST: begin
        at <= at + 6'd1;
        if (at == 6'(LANE_CYCLES)) state <= CLOSE;
      end
      CLOSE: begin
        if (!needs_end || out_room) state <= DROP;
      end
      DROP: begin
        is_last <= 1'b0;
        has_new_step <= 1'b0;
        needs_end <= 1'b0;
        under_way <= '0;
        if (ended) state <= WAIT;
      end
      default: ;
    endcase
    if (starts) under_way <= under_way + (BLOCK_BITS + 2)'(block_values) - (BLOCK_BITS + 2)'(value_valid);
    if (rst) begin
      is_last <= 1'b0;
      has_new_step <= 1'b0;
      needs_end <= 1'b0;
      under_way <= '0;
      lane_failed <= 1'b0;
      state <= WAIT;
    end
  end

  // The lane says whether its block was right before the block's last value has come through.
  logic is_end;
  assign is_end = state == LAST && is_last && !needs_end && under_way == (BLOCK_BITS + 2)'(1);

  // --- values out --------------------------------------------------------------------------------------------------
  logic is_empty_word;
  word_fifo #(
      .WIDTH(34),
      .DEPTH_BITS(9),
      .SPARE(64)  // values on their way when there is no more room
  ) values (
      .clk,
      .rst,
      .has_room(out_room),
      .in_valid(value_valid || puts_end),
      .in_data({puts_end, puts_end || is_end, value}),
      .out_valid(m_axis_tvalid),
      .out_ready(m_axis_tready),
      .out_data({is_empty_word, m_axis_tlast, m_axis_tdata})
  );
  assign m_axis_tkeep = is_empty_word ? '0 : '1;
endmodule
