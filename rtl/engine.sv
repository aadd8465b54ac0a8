// SPDX-License-Identifier: BSD-3-Clause
// The streaming compression engine: LANES lanes, each with an input of its own; one output, a Neve stream.
//
// Blocks of the stream go to the lanes in turn; those that the lanes have at a time are a round. What happens
// to a round: its values become symbols and counts; counts of all lanes are summed; its codebook is chosen by them;
// the lanes' tables are loaded; symbols become codes; the framer emits the blocks. Each step is at another
// round. A codebook of the stream's own is built, in the background, from the counts of `build_rounds` rounds, and is
// on offer from the third round after them on: always from the same round, however long anything waits.
module engine #(
  parameter int LANES = 1,          // 1 to 64
  parameter int BLOCK_BITS = 12,    // blocks of at most 2^BLOCK_BITS values, 8 to 16
  parameter int DIMS = 3,
  parameter int LINE_BITS = 12,
  parameter int PLANE_BITS = 12,
  parameter int BYTES = 16          // of a word of output: 8, 16 or 32
) (
  input  logic        clk,
  input  logic        rst,

  // Registers (docs/hardware.md); written while the engine is idle.
  input  logic        reg_write,
  input  logic [9:0]  reg_addr,
  input  logic [31:0] reg_data,
  output logic        busy,
  output logic [5:0]  rung,         // the bound in force

  // AXI4-Stream: float32 values of each lane's blocks, block after block.
  input  logic [LANES-1:0] s_axis_tvalid,
  output logic [LANES-1:0] s_axis_tready,
  input  logic [32*LANES-1:0] s_axis_tdata,

  // AXI4-Stream: the bytes of the stream, without gaps.
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic [8*BYTES-1:0] m_axis_tdata,
  output logic [BYTES-1:0] m_axis_tkeep,
  output logic        m_axis_tlast,

  // A round's choice, for those who watch.
  output logic        chosen,
  output logic [1:0]  chosen_codebook,
  output logic [3:0]  chosen_offline_codebook
);
  localparam int ENTRY_BITS = neve_pkg::ENTRY_BITS;
  localparam logic [2:0] PAGE_HEADER = 3'd1;  // 0x080: words of the stream header
  // 0x200: the ladder (rung_settings.sv).

  logic        start;
  logic [1:0]  dims, rule;
  logic [2:0]  table_shift;
  logic        has_fill, restarts, holds_ratio;
  logic [15:0] line_last, plane_last, block_x_step, block_y_step;
  logic [PLANE_BITS:0] plane_values;
  logic [BLOCK_BITS:0] block_values;
  logic [47:0] total;
  logic [31:0] fill, chi_keep, chi_offline, target;
  logic [6:0]  header_words;
  logic [15:0] build_rounds;
  logic [5:0]  first_rung, last_rung;
  logic [4:0]  gain_shift;
  engine_registers #(.LANES(LANES), .BLOCK_BITS(BLOCK_BITS), .PLANE_BITS(PLANE_BITS)) registers (
    .clk, .rst, .reg_write, .reg_addr, .reg_data, .start, .dims, .rule, .table_shift, .has_fill, .restarts,
    .holds_ratio, .line_last, .plane_last, .block_x_step, .block_y_step, .plane_values, .block_values, .total, .fill,
    .chi_keep, .chi_offline, .target, .header_words, .build_rounds, .first_rung, .last_rung, .gain_shift);

  logic        load_start, loaded;
  neve_pkg::quantizer_settings_t settings;
  rung_settings rung_settings_i (
    .clk, .rst, .ladder_write(reg_write & reg_addr[9]), .ladder_addr(reg_addr[8:0]), .ladder_data(reg_data), .has_fill,
    .fill, .load_start, .rung, .loaded, .settings);

  logic        lane_rst, clears, start_framer, asks, answered, is_first, has_new_step;
  logic [9:0]  clear_at;
  logic [5:0]  next_rung;
  logic [LANES-1:0] lane_empty, block_valid, block_ready;
  logic [BLOCK_BITS:0] values_now;
  logic [15:0] x, y;
  logic [3:0]  dealt_rounds, chosen_rounds, framed_rounds;
  logic [6:0]  chosen_lanes, framed_lanes;
  logic        framed_is_last, framed_has_step;
  logic [5:0]  framed_rung;
  block_dealer #(.LANES(LANES), .BLOCK_BITS(BLOCK_BITS)) dealer (
    .clk, .rst, .start, .busy, .lane_rst, .clears, .clear_at, .start_framer,
    .ended(m_axis_tvalid & m_axis_tready & m_axis_tlast), .total, .block_values, .line_last, .plane_last,
    .block_x_step, .block_y_step, .holds_ratio, .first_rung, .asks, .answered, .next_rung, .rung, .load_start, .loaded,
    .lane_empty, .block_valid, .block_ready, .values_now, .is_first, .has_new_step, .x, .y, .dealt_rounds,
    .chosen_rounds, .chosen_lanes, .framed_rounds, .framed_lanes, .framed_is_last, .framed_has_step, .framed_rung);

  // --- lanes -------------------------------------------------------------------------------------------

  logic [LANES-1:0] counted, counts_taken, codebook_pending, codebook_valid;
  logic        count_read, codebook_bank;
  logic [9:0]  count_addr;
  logic [LANES-1:0] active;                 // in the round whose codebook is chosen next
  logic [LANES*(BLOCK_BITS+1)-1:0] count_data;
  logic [LANES*(BLOCK_BITS+3)-1:0] counted_side_bytes;
  logic        table_write, table_bank;
  logic [9:0]  table_addr;
  logic [ENTRY_BITS-1:0] table_entry;
  logic [LANES-1:0] packed_valid, packed_taken, packed_read, codes_read, side_read;
  logic [LANES*(BLOCK_BITS+1)-1:0] packed_values, packed_symbols, packed_entries;
  logic [LANES*(BLOCK_BITS+3)-1:0] packed_side_bytes;
  logic [LANES*(BLOCK_BITS+2)-1:0] packed_code_bytes;
  logic [LANES*8*BYTES-1:0] codes_data;
  logic [LANES*49-1:0] side_entry;
  genvar l;
  generate
    for (l = 0; l < LANES; l = l + 1) begin : lanes
      lane #(.BLOCK_BITS(BLOCK_BITS), .DIMS(DIMS), .LINE_BITS(LINE_BITS), .PLANE_BITS(PLANE_BITS),
             .WORDS(BYTES / 4)) lane_i (
        .clk(clk), .rst(lane_rst),
        .settings(settings),
        .dims(dims), .line_last(line_last), .plane_last(plane_last), .plane_values(plane_values),
        .empty(lane_empty[l]),
        .block_valid(block_valid[l]), .block_ready(block_ready[l]), .block_values(values_now),
        .block_restart(restarts | is_first | (has_new_step & l == 0)), .block_x(x), .block_y(y),
        .in_valid(s_axis_tvalid[l]), .in_ready(s_axis_tready[l]), .in_data(s_axis_tdata[32*l+:32]),
        .counted(counted[l]), .counts_taken(counts_taken[l]), .count_read((count_read & active[l]) | clears),
        .count_clear_all(clears), .count_addr(clears ? clear_at : count_addr),
        .count_data(count_data[(BLOCK_BITS+1)*l+:BLOCK_BITS+1]),
        .counted_side_bytes(counted_side_bytes[(BLOCK_BITS+3)*l+:BLOCK_BITS+3]),
        .codebook_valid(codebook_valid[l]), .codebook_bank(codebook_bank), .codebook_pending(codebook_pending[l]),
        .table_write(table_write), .table_bank(table_bank), .table_addr(table_addr), .table_entry(table_entry),
        .packed_valid(packed_valid[l]), .packed_taken(packed_taken[l]), .packed_read(packed_read[l]),
        .packed_values(packed_values[(BLOCK_BITS+1)*l+:BLOCK_BITS+1]),
        .packed_symbols(packed_symbols[(BLOCK_BITS+1)*l+:BLOCK_BITS+1]),
        .packed_entries(packed_entries[(BLOCK_BITS+1)*l+:BLOCK_BITS+1]),
        .packed_side_bytes(packed_side_bytes[(BLOCK_BITS+3)*l+:BLOCK_BITS+3]),
        .packed_code_bytes(packed_code_bytes[(BLOCK_BITS+2)*l+:BLOCK_BITS+2]),
        .codes_read(codes_read[l]), .codes_data(codes_data[8*BYTES*l+:8*BYTES]), .side_read(side_read[l]),
        .side_special(side_entry[49*l+48]), .side_run(side_entry[49*l+32+:16]),
        .side_value(side_entry[49*l+:32]));
    end
  endgenerate

  // --- codebooks and bounds ----------------------------------------------------------------------------

  logic        round_taken, has_framed, word_valid, measured;
  logic [1:0]  framed_codebook;
  logic [3:0]  framed_offline_codebook;
  logic [10:0] codebook_bytes;
  logic [7:0]  codebook_word_at;
  logic [31:0] word_data, measured_bits;
  round_codebooks #(.LANES(LANES), .BLOCK_BITS(BLOCK_BITS)) codebooks (
    .clk, .rst(lane_rst), .rule, .chi_keep, .chi_offline, .build_rounds, .table_shift, .dealt_rounds, .chosen_rounds,
    .lanes_now(chosen_lanes), .active, .counted, .counts_taken, .count_read, .count_addr, .count_data,
    .counted_side_bytes, .codebook_valid, .codebook_bank, .codebook_pending, .table_write, .table_bank, .table_addr,
    .table_entry, .chosen, .chosen_codebook, .chosen_offline_codebook, .measured, .measured_bits, .round_taken,
    .framed_rounds, .has_framed, .framed_codebook, .framed_offline_codebook, .codebook_bytes, .word_valid,
    .codebook_word_at, .word_data);
  ratio_control ratio (
    .clk(clk), .rst(lane_rst), .last_rung(last_rung), .target(target), .shift(gain_shift), .measured(measured),
    .measured_bits(measured_bits), .ask(asks), .rung(rung), .answered(answered), .answer(next_rung));

  // --- out ---------------------------------------------------------------------------------------------

  // What the framer asks for in words of 4 bytes: the bound of the round's rung and S, which becomes a float64, and the
  // codebook.
  logic        step_read, codebook_read;
  logic [1:0]  step_addr, step_addr1;
  logic [7:0]  framer_codebook_addr;
  logic [31:0] step_word, step_as_f64, codebook_word;
  gated_ram #(.WIDTH(32), .DEPTH(512)) framer_ladder (
    .clk(clk), .write(reg_write & reg_addr[9]), .write_addr(reg_addr[8:0]), .write_data(reg_data), .enable(1'b1),
    .read(step_read), .read_addr({framed_rung, step_addr[1] ? 3'd0 : step_addr[0] ? 3'd4 : 3'd3}),
    .read_data(step_word));
  gated_ram #(.WIDTH(32), .DEPTH(256)) codebook_words (
    .clk(clk), .write(word_valid), .write_addr(codebook_word_at), .write_data(word_data), .enable(1'b1),
    .read(codebook_read), .read_addr(framer_codebook_addr), .read_data(codebook_word));
  always_ff @(posedge clk) step_addr1 <= step_addr;
  always_comb begin
    case (step_addr1)
      2'd2: step_as_f64 = {step_word[2:0], 29'b0};
      // 896 more in the exponent, but where S is 0.
      2'd3: step_as_f64 = {1'b0, step_word[30], {3{~step_word[30] & |step_word[30:23]}}, step_word[29:3]};
      default: step_as_f64 = step_word;
    endcase
  end
  block_framer #(.LANES(LANES), .BLOCK_BITS(BLOCK_BITS), .BYTES(BYTES),
                 .MEMORY_BITS(BLOCK_BITS + 4 - $clog2(BYTES))) framer (
    .clk(clk), .rst(lane_rst),
    .header_write(reg_write & reg_addr[9:7] == PAGE_HEADER), .header_addr(reg_addr[6:0]),
    .header_data(reg_data), .header_words(header_words), .start(start_framer),
    .round_valid(framed_rounds != chosen_rounds & ~round_taken), .round_taken(round_taken),
    .round_codebook(framed_codebook), .round_offline_codebook(framed_offline_codebook),
    .round_codebook_bytes(codebook_bytes), .round_has_step(framed_has_step),
    .round_restarts(restarts | ~has_framed), .round_lanes(framed_lanes),
    .round_is_last(framed_is_last), .step_read(step_read), .step_addr(step_addr),
    .codebook_read(codebook_read), .codebook_addr(framer_codebook_addr), .word_data(step_as_f64 | codebook_word),
    .packed_valid(packed_valid), .packed_read(packed_read), .packed_taken(packed_taken), .packed_values(packed_values),
    .packed_symbols(packed_symbols), .packed_entries(packed_entries), .packed_side_bytes(packed_side_bytes),
    .packed_code_bytes(packed_code_bytes), .codes_read(codes_read), .codes_data(codes_data),
    .side_read(side_read), .side_entry(side_entry),
    .out_valid(m_axis_tvalid), .out_ready(m_axis_tready), .out_data(m_axis_tdata),
    .out_keep(m_axis_tkeep), .out_last(m_axis_tlast));
endmodule
