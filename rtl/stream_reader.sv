// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a stream (docs/format.md, "Stream") to what decoder_lane.sv wants of each block: its header, the next book
// as lengths, the settings of its step, its codes and its side stream. A block is offered when its checksum has been
// compared; the next one is read meanwhile. Four bytes a cycle, and one a cycle in a codebook.
//
// What is wrong with a stream ends in `failed` and one of the numbers below; what is left of it is then dropped.
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
    // The next book.
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
    output logic                             block_takes_book,
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
  localparam logic [3:0] NOT_A_STREAM = 4'd1;     // no "NEVS" in front
  localparam logic [3:0] VERSION = 4'd2;
  localparam logic [3:0] HEADER = 4'd3;           // a field has a value that the format does not allow
  localparam logic [3:0] HEADER_CHECKSUM = 4'd4;
  localparam logic [3:0] NOT_BUILT_FOR = 4'd5;    // float64; longer blocks, lines, planes; a fill value below 2^-126
  localparam logic [3:0] BLOCK_HEADER = 4'd6;     // mark, flags, or counts that do not fit
  localparam logic [3:0] BLOCK_CHECKSUM = 4'd7;
  localparam logic [3:0] BOOK = 4'd8;             // lengths of no complete code; none yet
  localparam logic [3:0] CODES = 4'd9;            // codes or side stream do not fit the block's values
  localparam logic [3:0] ENDS_EARLY = 4'd10;
  localparam logic [3:0] VALUES = 4'd11;          // more or fewer than the shape's, or bytes behind the last block
  localparam logic [3:0] STEP = 4'd12;            // no number, or none that quantizer.sv takes

  localparam int MAX_RANK = 32;
  localparam int TOTAL_BITS = 41;                 // of values: at most 2^40
  localparam logic [TOTAL_BITS:0] MOST_VALUES = (TOTAL_BITS + 1)'(1) << (TOTAL_BITS - 1);
  localparam int LEAST_BLOCK = 256;
  localparam int MOST_BLOCK = 1 << 24;
  localparam int MOST_LINES = 1 << 16;

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
  localparam logic [4:0] SIZE_LOW = 5'd2;
  localparam logic [4:0] SIZE_HIGH = 5'd3;
  localparam logic [4:0] MULTIPLY = 5'd4;
  localparam logic [4:0] CHECKSUM = 5'd5;
  localparam logic [4:0] COMPARE = 5'd6;
  localparam logic [4:0] SET_UP = 5'd7;
  localparam logic [4:0] BLOCK = 5'd8;
  localparam logic [4:0] CHECK = 5'd9;
  localparam logic [4:0] STEP_BYTES = 5'd10;
  localparam logic [4:0] BOOK_WAIT = 5'd11;
  localparam logic [4:0] BOOK_BYTES = 5'd12;
  localparam logic [4:0] PARTS = 5'd13;
  localparam logic [4:0] CODE_BYTES = 5'd14;
  localparam logic [4:0] SIDE_BYTES = 5'd15;
  localparam logic [4:0] SKIP = 5'd16;
  localparam logic [4:0] END = 5'd17;
  localparam logic [4:0] REMAINDER = 5'd18;
  localparam logic [4:0] OFFER = 5'd19;
  localparam logic [4:0] WAIT = 5'd20;
  localparam logic [4:0] DROP = 5'd21;
  localparam logic [4:0] JUDGE = 5'd22;
  localparam logic [4:0] JUDGE_PARTS = 5'd23;
  logic [4:0] state;
  assign busy = state != IDLE;
  assign drops = state == DROP;

  logic [5:0] at;         // word of a header; cycles
  // What is left of the part at hand: pieces of four bytes, then of one. Comparisons are made ahead.
  logic [30:0] fours_left;
  logic [1:0] ones_left;
  logic has_fours, is_through;
  logic [32:0] payload_left;
  logic has_payload;
  logic book_byte_ready, book_busy, book_failed, reads_words, reads_part, has_part_room;
  assign reads_words = state == HEAD || state == SIZE_LOW || state == SIZE_HIGH || state == CHECKSUM ||
      state == BLOCK || state == STEP_BYTES;
  assign has_part_room = state == CODE_BYTES ? code_room : state == SIDE_BYTES ? side_room : 1'b1;
  assign reads_part = (state == CODE_BYTES || state == SIDE_BYTES || state == SKIP) && !is_through && has_part_room;
  assign takes_four = has_four && (reads_words || (reads_part && has_fours) || state == DROP);
  assign takes_one = has_one && ((reads_part && !has_fours) ||
      (state == BOOK_BYTES && book_byte_ready && has_payload) || (state == DROP && !has_four));
  assign is_through = !has_fours && ones_left == '0;
  logic lacks;  // bytes that will not come
  assign lacks = ended && (reads_words ? !has_four
      : reads_part ? !has_one || (has_fours && !has_four)
      : state == BOOK_BYTES && book_byte_ready && !has_one);

  // --- checksum ----------------------------------------------------------------------------------------------------
  logic [31:0] crc, crc_of_four, crc_of_one, summed, claimed;
  logic sums_four, sums_one, begins_sum;
  crc_step #(
      .BYTES(4)
  ) crc_four (
      .state(crc),
      .data (summed),
      .next (crc_of_four)
  );
  crc_step #(
      .BYTES(1)
  ) crc_one (
      .state(crc),
      .data (summed[7:0]),
      .next (crc_of_one)
  );
  always_ff @(posedge clk) begin
    // The checksum itself is no part of what it is of.
    sums_four <= takes_four && state != CHECKSUM && !(state == BLOCK && at == 6'd5);
    sums_one <= takes_one;
    summed <= bytes;
    if (begins_sum) crc <= '1;
    else if (sums_four) crc <= crc_of_four;
    else if (sums_one) crc <= crc_of_one;
  end

  // --- header ------------------------------------------------------------------------------------------------------
  logic is_bad, is_beyond;  // what the header says, once its checksum is right
  logic [5:0] rank_left;
  logic is_first_size, is_open;
  logic [31:0] line, lines, size_low, fill_low;
  logic [24:0] most_values;  // of a block
  logic [TOTAL_BITS-1:0] total;  // of the sizes that are not open
  // A product, bit by bit; beyond 2^40 it only says so.
  logic [TOTAL_BITS-1:0] factor, multiplier;
  logic [TOTAL_BITS:0] product;
  logic factor_is_beyond, was_beyond, product_is_beyond, is_plane;
  assign product_is_beyond = was_beyond || product > MOST_VALUES;
  // The fill value in float32: NaN and what overflows never is a value's quantum, so that they need not be known.
  logic [31:0] fill_rounded;
  logic [10:0] fill_exponent;
  assign fill_exponent = bytes[30:20];
  assign fill_rounded = {bytes[31], 8'(fill_exponent - 11'd896), bytes[19:0], fill_low[31:29]} +
      32'(fill_low[28] && (fill_low[27:0] != '0 || fill_low[29]));

  // --- blocks ------------------------------------------------------------------------------------------------------
  logic [31:0] head_values, head_symbols, head_side, head_payload;
  logic [1:0] head_book;
  logic [3:0] head_offline;
  logic is_bad_head, has_bad_counts, has_book, is_first_block, needs_book, plane_is_kept;
  logic [TOTAL_BITS:0] values_so_far;
  logic [TOTAL_BITS:0] since_restart;
  logic [3:0] problem;  // that is told when the block's checksum is right
  logic [32:0] least_payload, most_side_bytes, code_bytes_wide;
  logic has_values;
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
  logic book_start;
  book_reader books (
      .clk,
      .rst(rst || state == DROP || state == IDLE),
      .start(book_start),
      .is_offline(head_book == neve_pkg::BOOK_OFFLINE),
      .offline_book(head_offline),
      .byte_valid(takes_one && state == BOOK_BYTES),
      .byte_ready(book_byte_ready),
      .byte_data(bytes[7:0]),
      .length_valid,
      .length_ready,
      .length,
      .busy(book_busy),
      .failed(book_failed)
  );
  assign load = state == BOOK_WAIT && needs_book && load_ready;

  // Four bytes, or as many as a part's last word has.
  logic [23:0] tail;
  logic [1:0] tail_at;
  always_comb begin
    part_word = has_fours ? bytes : {8'd0, tail};
    for (int i = 0; i < 4; i++) if (!has_fours && tail_at == 2'(i)) part_word[8*i+:8] = bytes[7:0];
  end
  assign code_write = state == CODE_BYTES && (takes_four || (takes_one && ones_left == 2'd1));
  assign side_write = state == SIDE_BYTES && (takes_four || (takes_one && ones_left == 2'd1));

  // Values modulo the sizes that are not open, bit by bit.
  logic [TOTAL_BITS-1:0] dividend, remainder;
  logic [TOTAL_BITS:0] twice, twice_less;
  assign twice = {remainder, dividend[TOTAL_BITS-1]};
  assign twice_less = twice - {1'b0, total};

  always_ff @(posedge clk) begin
    begins_sum <= 1'b0;
    settings_start <= 1'b0;
    book_start <= 1'b0;
    taker_rst <= 1'b0;
    if (takes_four) begin
      fours_left <= fours_left - 31'd1;
      has_fours <= fours_left != 31'd1;
    end else if (takes_one) begin
      ones_left <= ones_left - 2'd1;
    end
    if (takes_four || takes_one) payload_left <= payload_left - (takes_four ? 33'd4 : 33'd1);
    has_payload <= payload_left != (takes_four ? 33'd4 : takes_one ? 33'd1 : 33'd0);
    if (takes_one) begin
      for (int i = 0; i < 3; i++) if (tail_at == 2'(i)) tail[8*i+:8] <= bytes[7:0];
      tail_at <= tail_at + 2'd1;
    end

    unique case (state)
      IDLE: begin
        begins_sum <= 1'b1;
        at <= '0;
        is_bad <= 1'b0;
        is_beyond <= 1'b0;
        in_header <= 1'b1;
        is_first_block <= 1'b1;
        has_book <= 1'b0;
        values_so_far <= '0;
        total <= TOTAL_BITS'(1);
        is_open <= 1'b0;
        is_first_size <= 1'b1;
        is_plane <= 1'b0;
        plane_is_kept <= 1'b0;
        problem <= '0;
        if (!taker_rst && (has_one || ended)) begin
          failed <= 1'b0;
          failure <= '0;
          state <= HEAD;
        end
      end
      HEAD: begin
        if (takes_four) begin
          at <= at + 6'd1;
          unique case (at)
            6'd0: begin
              if (bytes != 32'h5356454e) begin
                failed <= 1'b1;
                failure <= NOT_A_STREAM;
                state <= DROP;
              end
            end
            6'd1: begin
              dims <= bytes[25:24];
              is_bad <= is_bad || bytes[23:17] != '0 || bytes[31:26] != '0 || bytes[25:24] == '0;
              is_beyond <= is_beyond || bytes[16];
              if (bytes[15:0] != 16'd1) begin
                failed <= 1'b1;
                failure <= VERSION;
                state <= DROP;
              end
            end
            6'd2: begin
              has_fill <= bytes[0];
              rank_left <= bytes[21:16];
              is_bad <= is_bad || bytes[7:1] != '0 || bytes[15:8] > 8'd4 || bytes[31:24] != '0;
              if (bytes[23:16] > 8'(MAX_RANK)) begin
                failed <= 1'b1;
                failure <= HEADER;
                state <= DROP;
              end
            end
            6'd3: is_bad <= is_bad || bytes != 32'd1;
            6'd4: begin
              most_values <= bytes[24:0];
              is_bad <= is_bad || bytes < 32'(LEAST_BLOCK) || bytes > 32'(MOST_BLOCK);
              is_beyond <= is_beyond || bytes > 32'(1 << BLOCK_BITS);
            end
            6'd5: begin
              line <= bytes;
              line_last <= LINE_BITS'(bytes - 32'd1);
              is_bad <= is_bad || (bytes == '0) != (dims == 2'd1);
              is_beyond <= is_beyond || bytes > 32'(1 << LINE_BITS);
            end
            6'd6: begin
              lines <= bytes;
              plane_last <= 16'(bytes - 32'd1);
              is_bad <= is_bad || (bytes == '0) != (dims != 2'd3);
              is_beyond <= is_beyond || bytes > 32'(MOST_LINES);
            end
            6'd7: is_bad <= is_bad || bytes != '0;
            6'd10: fill_low <= bytes;
            6'd11: begin
              fill <= {bytes[30:0], fill_low} == '0 ? {bytes[31], 31'd0} : fill_rounded;
              if (fill_exponent > 11'd1150) has_fill <= 1'b0;
              is_beyond <= is_beyond || (has_fill && fill_exponent < 11'd897 && {bytes[30:0], fill_low} != '0);
              state <= rank_left == '0 ? MULTIPLY : SIZE_LOW;
              factor <= TOTAL_BITS'(line);
              multiplier <= TOTAL_BITS'(lines);
              product <= '0;
              factor_is_beyond <= 1'b0;
              was_beyond <= 1'b0;
              is_plane <= rank_left == '0;
            end
            default: ;
          endcase
        end
      end
      SIZE_LOW: begin
        size_low <= bytes;
        if (takes_four) state <= SIZE_HIGH;
      end
      SIZE_HIGH: begin
        factor <= total;
        multiplier <= {bytes[TOTAL_BITS-33:0], size_low};
        product <= '0;
        factor_is_beyond <= 1'b0;
        was_beyond <= 1'b0;
        if (takes_four) begin
          is_first_size <= 1'b0;
          rank_left <= rank_left - 6'd1;
          is_bad <= is_bad || bytes[31:TOTAL_BITS-32] != '0 || ({bytes, size_low} == '0 && !is_first_size);
          if ({bytes, size_low} == '0) begin
            is_open <= 1'b1;
            product <= {1'b0, total};
          end
          state <= MULTIPLY;
        end
      end
      // Sizes to the number of values; at last lines to a plane.
      MULTIPLY: begin
        if (multiplier != '0) begin
          if (multiplier[0]) begin
            product <= product + {1'b0, factor};
            was_beyond <= product_is_beyond || factor_is_beyond;
          end
          factor <= factor << 1;
          factor_is_beyond <= factor_is_beyond || factor[TOTAL_BITS-1];
          multiplier <= multiplier >> 1;
        end else begin
          factor <= TOTAL_BITS'(line);
          multiplier <= TOTAL_BITS'(lines);
          product <= '0;
          factor_is_beyond <= 1'b0;
          was_beyond <= 1'b0;
          if (is_plane) begin
            plane_is_kept <= !product_is_beyond && product <= (TOTAL_BITS + 1)'(1 << PLANE_BITS);
            plane_values <= !product_is_beyond && product <= (TOTAL_BITS + 1)'(1 << PLANE_BITS) ? product[PLANE_BITS:0] : '0;
            state <= CHECKSUM;
          end else begin
            total <= product[TOTAL_BITS-1:0];
            is_bad <= is_bad || product_is_beyond;
            is_plane <= rank_left == '0;
            if (rank_left != '0) state <= SIZE_LOW;
          end
        end
      end
      CHECKSUM: begin
        claimed <= bytes;
        at <= '0;
        if (takes_four) state <= COMPARE;
      end
      // The last bytes are summed up two cycles after they are taken.
      COMPARE: begin
        at <= at + 6'd1;
        if (at[1]) begin
          at <= '0;
          state <= in_header ? SET_UP : block_is_last ? END : OFFER;
          if (~crc != claimed || is_bad || is_beyond || problem != '0) begin
            failed <= 1'b1;
            failure <= ~crc != claimed ? (in_header ? HEADER_CHECKSUM : BLOCK_CHECKSUM)
                : is_bad ? HEADER : is_beyond ? NOT_BUILT_FOR : problem;
            state <= DROP;
          end
        end
      end
      SET_UP: begin
        at <= at + 6'd1;
        begins_sum <= 1'b1;
        if (at[5]) begin
          at <= '0;
          in_header <= 1'b0;
          state <= BLOCK;
        end
      end

      BLOCK: begin
        if (takes_four) begin
          at <= at + 6'd1;
          unique case (at)
            6'd0: begin
              head_book <= bytes[17:16];
              block_restart <= bytes[18];
              block_has_step <= bytes[19];
              block_is_last <= bytes[20];
              head_offline <= bytes[27:24];
              is_bad_head <= bytes[15:0] != 16'h424e || bytes[23:21] != '0 || bytes[17:16] == 2'd3 ||
                  bytes[31:28] != '0 || (bytes[17:16] != neve_pkg::BOOK_OFFLINE && bytes[27:24] != '0);
            end
            6'd1: head_values <= bytes;
            6'd2: head_symbols <= bytes;
            6'd3: head_side <= bytes;
            6'd4: head_payload <= bytes;
            6'd5: begin
              claimed <= bytes;
              at <= '0;
              state <= CHECK;
            end
            default: ;
          endcase
          if (at == 6'd4) least_payload <= {1'b0, head_side} + (block_has_step ? 33'd16 : 33'd0);
        end
      end
      CHECK: begin
        block_values <= head_values[BLOCK_BITS:0];
        block_symbols <= head_symbols[BLOCK_BITS:0];
        block_side_bytes <= head_side[BLOCK_BITS+2:0];
        has_values <= head_values != '0;
        has_bad_counts <= head_values > 32'(most_values) || head_symbols > head_values ||
            {1'b0, head_payload} < least_payload || head_payload > {4'b0, most_values, 3'b0} + 32'd2064;
        // No entry of the side stream has more than 6 bytes.
        most_side_bytes <= {head_values[30:0], 2'b0} + {1'b0, head_values[30:0], 1'b0};
        values_so_far <= values_so_far + (TOTAL_BITS + 1)'(head_values);
        since_restart <= (block_restart ? '0 : since_restart) + (TOTAL_BITS + 1)'(head_values);
        payload_left <= {1'b0, head_payload};
        {fours_left, ones_left} <= {1'b0, head_payload};
        has_fours <= head_payload[31:2] != '0;
        at <= '0;
        state <= JUDGE;
      end
      JUDGE: begin
        needs_book <= has_values && head_book != neve_pkg::BOOK_KEPT;
        block_takes_book <= has_values && head_book != neve_pkg::BOOK_KEPT;
        state <= !has_values ? SKIP : block_has_step ? STEP_BYTES : BOOK_WAIT;
        if (has_values) begin
          is_first_block <= 1'b0;
          has_book <= 1'b1;
          if (head_book == neve_pkg::BOOK_KEPT && !has_book) problem <= BOOK;
          // A plane that is not kept is none only where no value looks back so far.
          if (dims == 2'd3 && !plane_is_kept && since_restart > (TOTAL_BITS + 1)'(1 << PLANE_BITS)) problem <= NOT_BUILT_FOR;
        end
        if (values_so_far > (is_open ? MOST_VALUES : {1'b0, total}) ||
            (block_is_last && !is_open && values_so_far != {1'b0, total})) begin
          failed <= 1'b1;
          failure <= VALUES;
          state <= DROP;
        end
        if (is_bad_head || has_bad_counts || (!has_values && !block_is_last) ||
            (has_values && is_first_block && !(block_restart && block_has_step)) ||
            (has_values && {1'b0, head_side} > most_side_bytes)) begin
          failed <= 1'b1;
          failure <= BLOCK_HEADER;
          state <= DROP;
        end
      end
      STEP_BYTES: begin
        if (takes_four) begin
          at <= at + 6'd1;
          {step_f64, bound_f64} <= {bytes, step_f64, bound_f64[63:32]};
          if (at[1:0] == 2'd3) begin
            settings_start <= 1'b1;
            state <= BOOK_WAIT;
          end
        end
      end
      BOOK_WAIT: begin
        at <= '0;
        if (!needs_book) begin
          state <= PARTS;
        end else if (load_ready) begin
          book_start <= 1'b1;
          state <= BOOK_BYTES;
        end
      end
      BOOK_BYTES: begin
        // Whoever reads an offline book's lengths goes on alone; one of the stream's own says where it ends.
        at <= 6'd1;
        if (at[0]) begin
          if (head_book == neve_pkg::BOOK_OFFLINE) state <= PARTS;
          else if (!book_start && !book_busy) state <= PARTS;
          else if (book_byte_ready && !has_payload) begin
            problem <= BOOK;
            state <= PARTS;
          end
        end
        if (!book_start && book_failed) problem <= BOOK;
      end
      PARTS: begin
        code_bytes_wide <= payload_left - {1'b0, head_side};
        state <= JUDGE_PARTS;
      end
      JUDGE_PARTS: begin
        block_code_bytes <= code_bytes_wide[BLOCK_BITS+1:0];
        {fours_left, ones_left} <= code_bytes_wide;
        has_fours <= code_bytes_wide[32:2] != '0;
        tail_at <= '0;
        at <= '0;
        state <= CODE_BYTES;
        // No code has more than two bytes. What is wrong is told when the checksum says that it is what was written.
        if (problem != '0 || code_bytes_wide[32] || code_bytes_wide > {head_values, 1'b0}) begin
          if (problem == '0) problem <= BLOCK_HEADER;
          {fours_left, ones_left} <= payload_left;
          has_fours <= payload_left[32:2] != '0;
          state <= SKIP;
        end
      end
      CODE_BYTES: begin
        if (is_through) begin
          {fours_left, ones_left} <= {1'b0, head_side};
          has_fours <= head_side[31:2] != '0;
          tail_at <= '0;
          state <= SIDE_BYTES;
        end
      end
      SIDE_BYTES: begin
        if (is_through) begin
          tail_at <= '0;
          state <= COMPARE;
        end
      end
      SKIP: begin
        at <= '0;
        if (is_through) state <= COMPARE;
      end

      // Nothing may follow the last block.
      END: begin
        dividend <= values_so_far[TOTAL_BITS-1:0];
        remainder <= '0;
        at <= '0;
        if (has_one) begin
          failed <= 1'b1;
          failure <= VALUES;
          state <= DROP;
        end else if (ended) begin
          state <= is_open ? REMAINDER : OFFER;
        end
      end
      REMAINDER: begin
        at <= at + 6'd1;
        dividend <= dividend << 1;
        remainder <= twice_less[TOTAL_BITS] ? twice[TOTAL_BITS-1:0] : twice_less[TOTAL_BITS-1:0];
        if (at == 6'(TOTAL_BITS)) begin
          state <= OFFER;
          if (remainder != '0) begin
            failed <= 1'b1;
            failure <= VALUES;
            state <= DROP;
          end
        end
      end
      OFFER: begin
        begins_sum <= 1'b1;
        at <= '0;
        if (has_values && ((block_has_step && !settings_busy && (step_is_none || step_refused)) ||
            (needs_book && loaded && !complete))) begin
          failed <= 1'b1;
          failure <= needs_book && loaded && !complete ? BOOK : STEP;
          state <= DROP;
        end else if (block_taken) begin
          state <= block_is_last ? WAIT : BLOCK;
        end
      end
      WAIT: ;
      DROP: ;
      default: ;
    endcase

    if (lacks && !failed) begin
      failed <= 1'b1;
      failure <= ENDS_EARLY;
      state <= DROP;
    end
    // The next block may have been read already when one turns out not to fit.
    if (lane_failed) begin
      failed <= 1'b1;
      failure <= CODES;
      state <= DROP;
    end
    if (finished) begin
      taker_rst <= 1'b1;
      state <= IDLE;
    end
    if (rst) begin
      in_header <= 1'b1;
      failed <= 1'b0;
      failure <= '0;
      taker_rst <= 1'b0;
      state <= IDLE;
    end
  end
  assign block_valid = state == OFFER && !(block_has_step && has_values && (settings_busy || step_is_none || step_refused)) &&
      !(needs_book && !(loaded && complete));
endmodule
