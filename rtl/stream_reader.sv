// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a stream (docs/format.md, "Stream") to what decoder_lane.sv wants of each block: its header, the next
// codebook as lengths, the settings of its step, its codes and its side stream. A block is offered when its checksum
// has been compared; the next one is read meanwhile. Four bytes a cycle, and one a cycle in a codebook.
//
// What is wrong with a stream ends in `failed` and one of the numbers of neve_pkg.sv (NOT_A_STREAM, ...); what is left of it is then dropped.
module stream_reader #(
    parameter int BYTES = 16,       // of a word of the stream
    parameter int BLOCK_BITS = 12,  // blocks have at most 2^BLOCK_BITS values
    parameter int LINE_BITS = 12,   // lines 2^LINE_BITS
    parameter int PLANE_BITS = 12   // planes that values look back to 2^PLANE_BITS
) (
    input  logic                             clk,
    input  logic                             rst,
    input  logic                             s_axis_tvalid,
    output logic                             s_axis_tready,
    input  logic [              8*BYTES-1:0] s_axis_tdata,
    input  logic [                BYTES-1:0] s_axis_tkeep,
    input  logic                             s_axis_tlast,
    output logic                             busy,
    output logic                             in_header,      // for 40 cycles at least, the header's settings in the last 32
    output logic                             failed,         // until the next stream begins, with a number:
    output logic [                      3:0] failure,
    input  logic                             lane_failed,    // codes or side stream of a block do not fit its values
    output logic                             drops,          // what is left of a stream that has failed
    input  logic                             finished,       // whoever takes the blocks is through
    output logic                             ended,          // the input's last byte has come
    // Of the header, constant until the next stream.
    output logic [                      1:0] dims,
    output logic [            LINE_BITS-1:0] line_last,
    output logic [                     15:0] plane_last,
    output logic [             PLANE_BITS:0] plane_values,   // 0: too many to look back
    output logic                             has_fill,
    output logic [                     31:0] fill,
    // The next codebook.
    output logic                             load,
    input  logic                             load_ready,
    output logic                             length_valid,
    input  logic                             length_ready,
    output logic [neve_pkg::LENGTH_BITS-1:0] length,
    input  logic                             loaded,
    input  logic                             complete,
    // A block; what it says stays until it is taken.
    output logic                             block_valid,
    input  logic                             block_taken,
    output logic                             block_takes_codebook,
    output logic                             block_restart,
    output logic                             block_has_step,
    output logic                             block_is_last,
    output logic [             BLOCK_BITS:0] block_values,   // 0 only of the last one
    output logic [             BLOCK_BITS:0] block_symbols,
    output logic [           BLOCK_BITS+1:0] block_code_bytes,
    output logic [           BLOCK_BITS+2:0] block_side_bytes,
    output neve_pkg::step_settings_t         step,
    output logic [                     27:0] limit,          // the first of quantizer.sv's
    // Codes and side stream of blocks, each from a word of its own on.
    output logic                             code_write,
    input  logic                             code_room,
    output logic                             side_write,
    input  logic                             side_room,
    output logic [                     31:0] part_word
);
  localparam int TOTAL_BITS = 41;  // of values: at most 2^40

  // --- bytes -------------------------------------------------------------------------------------------------------
  logic taker_rst, has_four, has_one, takes_four, takes_one;
  logic [31:0] bytes;
  byte_taker #(
      .BYTES(BYTES)
  ) taker (
      .clk,
      .rst(rst || taker_rst),
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .has_four,
      .has_one,
      .ended,
      .takes_four,
      .takes_one,
      .bytes
  );

  localparam logic [4:0] IDLE = 5'd0;
  localparam logic [4:0] HEAD = 5'd1;
  localparam logic [4:0] CHECKSUM = 5'd2;
  localparam logic [4:0] COMPARE = 5'd3;
  localparam logic [4:0] SET_UP = 5'd4;
  localparam logic [4:0] BLOCK = 5'd5;
  localparam logic [4:0] CHECK = 5'd6;
  localparam logic [4:0] JUDGE = 5'd7;
  localparam logic [4:0] STEP_BYTES = 5'd8;
  localparam logic [4:0] CODEBOOK_WAIT = 5'd9;
  localparam logic [4:0] CODEBOOK_BYTES = 5'd10;
  localparam logic [4:0] PARTS = 5'd11;
  localparam logic [4:0] JUDGE_PARTS = 5'd12;
  localparam logic [4:0] CODE_BYTES = 5'd13;
  localparam logic [4:0] SIDE_BYTES = 5'd14;
  localparam logic [4:0] SKIP = 5'd15;
  localparam logic [4:0] END = 5'd16;
  localparam logic [4:0] REMAINDER = 5'd17;
  localparam logic [4:0] OFFER = 5'd18;
  localparam logic [4:0] WAIT = 5'd19;
  localparam logic [4:0] DROP = 5'd20;
  logic [4:0] state;
  assign busy = state != IDLE;
  assign drops = state == DROP;

  logic [5:0] at;         // word of a block's header; cycles
  logic header_reads, has_fours, is_through, has_payload;
  logic codebook_byte_ready, codebook_busy, codebook_failed, reads_words, reads_part, has_part_room;
  assign reads_words = (state == HEAD && header_reads) || state == CHECKSUM || state == BLOCK || state == STEP_BYTES;
  assign has_part_room = state == CODE_BYTES ? code_room : state == SIDE_BYTES ? side_room : 1'b1;
  assign reads_part = (state == CODE_BYTES || state == SIDE_BYTES || state == SKIP) && !is_through && has_part_room;
  assign takes_four = has_four && (reads_words || (reads_part && has_fours) || state == DROP);
  assign takes_one = has_one && ((reads_part && !has_fours) ||
      (state == CODEBOOK_BYTES && codebook_byte_ready && has_payload) || (state == DROP && !has_four));
  logic lacks;  // bytes that will not come
  assign lacks = ended && (reads_words ? !has_four
      : reads_part ? !has_one || (has_fours && !has_four)
      : state == CODEBOOK_BYTES && codebook_byte_ready && !has_one);

  // --- checksum ----------------------------------------------------------------------------------------------------
  logic begins_sum, checksum_is_right;
  stream_checksum checksum (
      .clk,
      .begins(begins_sum),
      .sums_four(takes_four),
      .sums_one(takes_one),
      .claims(state == CHECKSUM || (state == BLOCK && at == 6'd5)),
      .bytes,
      .is_right(checksum_is_right)
  );

  // --- header ------------------------------------------------------------------------------------------------------
  logic header_done, header_refused, is_bad, is_beyond, plane_is_kept, is_open;
  logic [3:0] header_failure;
  logic [24:0] max_values;
  logic [TOTAL_BITS-1:0] total;
  header_reader #(
      .BLOCK_BITS(BLOCK_BITS),
      .LINE_BITS (LINE_BITS),
      .PLANE_BITS(PLANE_BITS),
      .TOTAL_BITS(TOTAL_BITS)
  ) header (
      .clk,
      .begins(state == IDLE),
      .runs(state == HEAD),
      .takes_four,
      .bytes,
      .reads(header_reads),
      .done(header_done),
      .refused(header_refused),
      .failure(header_failure),
      .is_bad,
      .is_beyond,
      .dims,
      .line_last,
      .plane_last,
      .plane_values,
      .plane_is_kept,
      .has_fill,
      .fill,
      .max_values,
      .total,
      .is_open
  );

  // --- blocks ------------------------------------------------------------------------------------------------------
  logic [31:0] head_values, head_side, head_payload;
  logic [1:0] head_codebook;
  logic [3:0] head_offline;
  logic is_bad_block, is_beyond_block, has_values, has_codebook, is_first_block, needs_codebook;
  block_header_reader #(
      .BLOCK_BITS(BLOCK_BITS)
  ) block_header (
      .clk,
      .takes(state == BLOCK && takes_four),
      .at(at[2:0]),
      .bytes,
      .checks(state == CHECK),
      .max_values,
      .is_first_block,
      .codebook(head_codebook),
      .offline_codebook(head_offline),
      .block_restart,
      .block_has_step,
      .block_is_last,
      .values(head_values),
      .side(head_side),
      .payload(head_payload),
      .has_values,
      .is_refused(is_bad_block),
      .is_beyond(is_beyond_block),
      .block_values,
      .block_symbols,
      .block_side_bytes
  );
  logic total_is_wrong, is_past_plane, is_multiple;
  value_total #(
      .PLANE_BITS(PLANE_BITS),
      .TOTAL_BITS(TOTAL_BITS)
  ) values (
      .clk,
      .begins(state == IDLE),
      .adds(state == CHECK),
      .block_values(head_values),
      .block_restart,
      .block_is_last,
      .total,
      .is_open,
      .is_wrong(total_is_wrong),
      .is_past_plane,
      .load(state == END),
      .divides(state == REMAINDER),
      .is_multiple
  );

  logic [63:0] bound_f64, step_f64;
  logic settings_start, settings_busy, step_is_none, step_refused;
  step_settings settings (
      .clk,
      .rst,
      .start(settings_start),
      .bound(bound_f64),
      .step_f64,
      .busy(settings_busy),
      .is_none(step_is_none),
      .refused(step_refused),
      .step,
      .limit
  );
  logic codebook_start;
  codebook_reader reader (
      .clk,
      .rst(rst || state == DROP || state == IDLE),
      .start(codebook_start),
      .is_offline(head_codebook == neve_pkg::CODEBOOK_OFFLINE),
      .offline_codebook(head_offline),
      .byte_valid(takes_one && state == CODEBOOK_BYTES),
      .byte_ready(codebook_byte_ready),
      .byte_data(bytes[7:0]),
      .length_valid,
      .length_ready,
      .length,
      .busy(codebook_busy),
      .failed(codebook_failed)
  );
  assign load = state == CODEBOOK_WAIT && needs_codebook && load_ready;

  // --- parts of a block --------------------------------------------------------------------------------------------
  logic [3:0] problem;  // that is told when the block's checksum is right
  logic [32:0] payload_left, code_bytes_wide;
  logic parts_do_not_fit, skips, ends_codes, ends_side, word_valid;
  // No code has more than two bytes. What is wrong is told when the checksum says that it is what was written.
  assign parts_do_not_fit = code_bytes_wide[32] || code_bytes_wide > {head_values, 1'b0};
  assign skips = problem != '0 || parts_do_not_fit;
  assign ends_codes = state == CODE_BYTES && is_through;
  assign ends_side = state == SIDE_BYTES && is_through;
  part_counter parts (
      .clk,
      .takes_four,
      .takes_one,
      .bytes,
      .load_payload(state == CHECK),
      .payload(head_payload),
      .load(state == CHECK || state == JUDGE_PARTS || ends_codes),
      .part(state == CHECK ? {1'b0, head_payload} : state == CODE_BYTES ? {1'b0, head_side}
          : skips ? payload_left : code_bytes_wide),
      .begins_word(state == JUDGE_PARTS || ends_codes || ends_side),
      .payload_left,
      .has_payload,
      .has_fours,
      .is_through,
      .word_valid,
      .word(part_word)
  );
  assign code_write = state == CODE_BYTES && word_valid;
  assign side_write = state == SIDE_BYTES && word_valid;
  always_ff @(posedge clk) begin
    if (state == PARTS) code_bytes_wide <= payload_left - {1'b0, head_side};
    if (state == JUDGE_PARTS) block_code_bytes <= code_bytes_wide[BLOCK_BITS+1:0];
  end

  // --- what is wrong -----------------------------------------------------------------------------------------------
  logic refuses, step_is_wrong, codebook_is_wrong, begins_stream;
  logic [3:0] refusal;
  assign begins_stream = state == IDLE && !taker_rst && (has_one || ended);
  assign step_is_wrong = has_values && block_has_step && !settings_busy && (step_is_none || step_refused);
  assign codebook_is_wrong = needs_codebook && loaded && !complete;
  always_comb begin
    refuses = 1'b0;
    refusal = '0;
    unique case (state)
      HEAD: begin
        refuses = header_refused;
        refusal = header_failure;
      end
      COMPARE: begin
        refuses = at[1] && (!checksum_is_right || is_bad || is_beyond || problem != '0);
        refusal = !checksum_is_right ? (in_header ? neve_pkg::HEADER_CHECKSUM : neve_pkg::BLOCK_CHECKSUM)
            : is_bad ? neve_pkg::HEADER : is_beyond ? neve_pkg::NOT_BUILT_FOR : problem;
      end
      JUDGE: begin
        refuses = is_beyond_block || is_bad_block || total_is_wrong;
        refusal = is_beyond_block ? neve_pkg::NOT_BUILT_FOR : is_bad_block ? neve_pkg::BLOCK_HEADER : neve_pkg::VALUES;
      end
      // Nothing may follow the last block.
      END: begin
        refuses = has_one;
        refusal = neve_pkg::VALUES;
      end
      REMAINDER: begin
        refuses = at == 6'(TOTAL_BITS) && !is_multiple;
        refusal = neve_pkg::VALUES;
      end
      OFFER: begin
        refuses = step_is_wrong || (has_values && codebook_is_wrong);
        refusal = codebook_is_wrong ? neve_pkg::CODEBOOK : neve_pkg::STEP;
      end
      default: ;
    endcase
    if (lacks && !failed) begin
      refuses = 1'b1;
      refusal = neve_pkg::ENDS_EARLY;
    end
    // The next block may have been read already when one turns out not to fit.
    if (lane_failed) begin
      refuses = 1'b1;
      refusal = neve_pkg::CODES;
    end
  end
  always_ff @(posedge clk) begin
    if (begins_stream || rst) begin
      failed <= 1'b0;
      failure <= '0;
    end
    if (refuses && !rst) begin
      failed <= 1'b1;
      failure <= refusal;
    end
  end

  // Whoever reads an offline codebook's lengths goes on alone; one of the stream's own says where it ends.
  logic codebook_ends, codebook_lacks;
  assign codebook_ends = head_codebook == neve_pkg::CODEBOOK_OFFLINE || (!codebook_start && !codebook_busy);
  assign codebook_lacks = !codebook_ends && codebook_byte_ready && !has_payload;

  // What is wrong with a block, and told behind it.
  always_ff @(posedge clk) begin
    unique case (state)
      IDLE: problem <= '0;
      JUDGE: begin
        if (has_values && head_codebook == neve_pkg::CODEBOOK_KEPT && !has_codebook) problem <= neve_pkg::CODEBOOK;
        // A plane that is not kept is none only where no value looks back so far.
        if (has_values && dims == 2'd3 && !plane_is_kept && is_past_plane) problem <= neve_pkg::NOT_BUILT_FOR;
      end
      CODEBOOK_BYTES: begin
        if (at[0] && codebook_lacks) problem <= neve_pkg::CODEBOOK;
        if (!codebook_start && codebook_failed) problem <= neve_pkg::CODEBOOK;
      end
      JUDGE_PARTS: if (problem == '0 && parts_do_not_fit) problem <= neve_pkg::BLOCK_HEADER;
      default: ;
    endcase
  end

  // --- what comes after what ---------------------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    unique case (state)
      IDLE: if (begins_stream) state <= HEAD;
      HEAD: if (header_done) state <= CHECKSUM;
      CHECKSUM: if (takes_four) state <= COMPARE;
      // The last bytes are summed up two cycles after they are taken.
      COMPARE: if (at[1]) state <= in_header ? SET_UP : block_is_last ? END : OFFER;
      SET_UP: if (at[5]) state <= BLOCK;
      BLOCK: if (takes_four && at == 6'd5) state <= CHECK;
      CHECK: state <= JUDGE;
      JUDGE: state <= !has_values ? SKIP : block_has_step ? STEP_BYTES : CODEBOOK_WAIT;
      STEP_BYTES: if (takes_four && at[1:0] == 2'd3) state <= CODEBOOK_WAIT;
      CODEBOOK_WAIT: if (!needs_codebook) state <= PARTS; else if (load_ready) state <= CODEBOOK_BYTES;
      CODEBOOK_BYTES: if (at[0] && (codebook_ends || codebook_lacks)) state <= PARTS;
      PARTS: state <= JUDGE_PARTS;
      JUDGE_PARTS: state <= skips ? SKIP : CODE_BYTES;
      CODE_BYTES: if (is_through) state <= SIDE_BYTES;
      SIDE_BYTES, SKIP: if (is_through) state <= COMPARE;
      END: if (ended) state <= is_open ? REMAINDER : OFFER;
      REMAINDER: if (at == 6'(TOTAL_BITS)) state <= OFFER;
      OFFER: if (block_taken) state <= block_is_last ? WAIT : BLOCK;
      default: ;
    endcase
    if (refuses) state <= DROP;
    if (finished || rst) state <= IDLE;
  end
  always_ff @(posedge clk) begin
    unique case (state)
      COMPARE: at <= at[1] ? '0 : at + 6'd1;
      SET_UP: at <= at[5] ? '0 : at + 6'd1;
      BLOCK: if (takes_four) at <= at == 6'd5 ? '0 : at + 6'd1;
      STEP_BYTES: if (takes_four) at <= at + 6'd1;
      CODEBOOK_BYTES: at <= 6'd1;
      REMAINDER: at <= at + 6'd1;
      default: at <= '0;
    endcase
  end

  // What a state brings about.
  always_ff @(posedge clk) begin
    begins_sum <= state == IDLE || state == SET_UP || state == OFFER;
    settings_start <= state == STEP_BYTES && takes_four && at[1:0] == 2'd3;
    codebook_start <= load;
    taker_rst <= finished && !rst;
    if (state == STEP_BYTES && takes_four) {step_f64, bound_f64} <= {bytes, step_f64, bound_f64[63:32]};
    if (state == SET_UP && at[5]) in_header <= 1'b0;
    if (state == JUDGE) begin
      needs_codebook <= has_values && head_codebook != neve_pkg::CODEBOOK_KEPT;
      block_takes_codebook <= has_values && head_codebook != neve_pkg::CODEBOOK_KEPT;
    end
    if (state == JUDGE && has_values) begin
      is_first_block <= 1'b0;
      has_codebook <= 1'b1;
    end
    if (state == IDLE) begin
      is_first_block <= 1'b1;
      has_codebook <= 1'b0;
    end
    if (state == IDLE || rst) in_header <= 1'b1;
  end
  assign block_valid = state == OFFER && !(block_has_step && has_values && (settings_busy || step_is_none || step_refused)) &&
      !(needs_codebook && !(loaded && complete));
endmodule
