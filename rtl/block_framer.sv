// SPDX-License-Identifier: BSD-3-Clause
// Packed blocks of the lanes, in order, to the bytes of a Neve stream (docs/format.md, "Stream header", "Block").
//
// A block's checksum stands before its payload. So payloads go into a memory while their checksum grows, and
// leave behind their header when it is known. A block starts when the memory has room for all of it.
module block_framer #(
  parameter int LANES = 1,
  parameter int BLOCK_BITS = 12,
  parameter int BYTES = 16,        // of a word of output, and of codes: 8, 16 or 32
  parameter int MEMORY_BITS = 12   // words that wait for their checksum; more than a block can take
) (
  input  logic        clk,
  input  logic        rst,

  // The stream header as it is, which the driver makes.
  input  logic        header_write,
  input  logic [6:0]  header_addr,
  input  logic [31:0] header_data,
  input  logic [6:0]  header_words,
  input  logic        start,

  // A round: a block of each of its lanes, the first `round_lanes`.
  input  logic        round_valid,
  output logic        round_taken,
  input  logic [1:0]  round_book,
  input  logic [3:0]  round_offline_book,
  input  logic [10:0] round_book_bytes,
  input  logic        round_has_step,     // its first block, which then restarts
  input  logic        round_restarts,     // all its blocks
  input  logic [6:0]  round_lanes,
  input  logic        round_is_last,
  input  logic [63:0] round_bound,        // of float64, with round_has_step
  input  logic [63:0] round_step,
  output logic [7:0]  book_addr,
  input  logic [31:0] book_data,          // one cycle later

  // Of the lanes, side by side (lane.sv).
  input  logic [LANES-1:0] packed_valid,
  output logic [LANES-1:0] packed_taken,
  input  logic [LANES*(BLOCK_BITS+1)-1:0] packed_values,
  input  logic [LANES*(BLOCK_BITS+1)-1:0] packed_symbols,
  input  logic [LANES*(BLOCK_BITS+1)-1:0] packed_entries,
  input  logic [LANES*(BLOCK_BITS+3)-1:0] packed_side_bytes,
  input  logic [LANES*(BLOCK_BITS+2)-1:0] packed_code_bytes,
  output logic [LANES-1:0] codes_read,
  input  logic [LANES*8*BYTES-1:0] codes_data,
  output logic [LANES-1:0] side_read,
  input  logic [LANES*49-1:0] side_entry, // {special, run, value}

  output logic        out_valid,
  input  logic        out_ready,
  output logic [8*BYTES-1:0] out_data,
  output logic [BYTES-1:0] out_keep,
  output logic        out_last
);
  localparam int B = $clog2(BYTES);
  localparam int INFO_BITS = 3 * (BLOCK_BITS + 1) + (BLOCK_BITS + 3) + (BLOCK_BITS + 2);
  localparam int HEAD_BITS = 160;  // of a block, without the checksum
  localparam int HEAD_WORDS = (20 + BYTES - 1) / BYTES;
  localparam int LENGTH_BITS = BLOCK_BITS + 5;  // of a payload

  // --- which lane --------------------------------------------------------------------------------------

  logic [LANES-1:0] select;
  logic [6:0]  lane_number;
  logic [INFO_BITS-1:0] info;
  logic [8*BYTES-1:0] codes_now;
  logic [48:0] entry_now;
  integer i;
  always_comb begin
    info = '0;
    codes_now = '0;
    entry_now = '0;
    for (i = 0; i < LANES; i = i + 1) begin
      info = info | ({INFO_BITS{select[i]}} &
                     {packed_values[(BLOCK_BITS+1)*i+:BLOCK_BITS+1],
                      packed_symbols[(BLOCK_BITS+1)*i+:BLOCK_BITS+1],
                      packed_entries[(BLOCK_BITS+1)*i+:BLOCK_BITS+1],
                      packed_side_bytes[(BLOCK_BITS+3)*i+:BLOCK_BITS+3],
                      packed_code_bytes[(BLOCK_BITS+2)*i+:BLOCK_BITS+2]});
      codes_now = codes_now | ({8*BYTES{select[i]}} & codes_data[8*BYTES*i+:8*BYTES]);
      entry_now = entry_now | ({49{select[i]}} & side_entry[49*i+:49]);
    end
  end

  // --- a block's parts ---------------------------------------------------------------------------------

  localparam logic [3:0] WAIT = 4'd0, LOOK = 4'd1, SUM = 4'd2, ROOM = 4'd3, HEAD = 4'd4, STEP = 4'd5,
                         BOOK = 4'd6, CODES = 4'd7, SIDE = 4'd8, DRAIN = 4'd9, NEXT = 4'd10;
  logic [3:0]  state;
  logic [BLOCK_BITS:0] values, symbols, entries;
  logic [BLOCK_BITS+2:0] side_bytes;
  logic [BLOCK_BITS+1:0] code_bytes, code_left;
  logic [BLOCK_BITS:0] entries_left;
  logic [LENGTH_BITS-1:0] parts, payload;
  logic [10:0] book_left;
  logic        has_step, has_book, is_last, step_half;
  logic [1:0]  head_at;
  logic        block_joined, meta_room;
  logic [MEMORY_BITS:0] memory_used;
  logic [HEAD_BITS-1:0] head;
  assign head = {{(32-LENGTH_BITS){1'b0}}, payload,
                 {(29-BLOCK_BITS){1'b0}}, side_bytes,
                 {(31-BLOCK_BITS){1'b0}}, symbols,
                 {(31-BLOCK_BITS){1'b0}}, values,
                 4'b0, lane_number == 0 && round_book == neve_pkg::BOOK_OFFLINE ? round_offline_book : 4'd0,
                 3'b0, is_last, has_step, has_step | round_restarts,
                 lane_number == 0 ? round_book : neve_pkg::BOOK_KEPT,
                 16'h424e};

  logic ends_codes, ends_book, ends_side;
  assign ends_codes = code_left <= (BLOCK_BITS+2)'(BYTES);
  assign ends_book = book_left <= 11'd4;
  assign ends_side = entries_left == 1;
  assign codes_read = state == CODES ? select : '0;
  assign side_read = state == SIDE ? select : '0;
  assign packed_taken = state == NEXT ? select : '0;
  assign round_taken = state == NEXT && lane_number + 7'd1 == round_lanes;

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= WAIT;
    end else begin
      case (state)
        WAIT: begin
          lane_number <= 7'd0;
          select <= LANES'(1);
          if (round_valid & meta_room) state <= LOOK;
        end
        LOOK: begin
          {values, symbols, entries, side_bytes, code_bytes} <= info;
          has_step <= round_has_step & lane_number == 0;
          has_book <= round_book == neve_pkg::BOOK_REBUILT & lane_number == 0;
          is_last <= round_is_last & lane_number + 7'd1 == round_lanes;
          if (|(packed_valid & select) & meta_room) state <= SUM;
        end
        SUM: begin
          parts <= LENGTH_BITS'(code_bytes) + LENGTH_BITS'(side_bytes);
          state <= ROOM;
        end
        ROOM: begin
          payload <= parts + (has_step ? LENGTH_BITS'(16) : '0) +
                     (has_book ? LENGTH_BITS'(round_book_bytes) : '0);
          head_at <= 2'd0;
          // A book and a step and a word less than whole come on top of what `parts` says.
          if ({1'b0, memory_used} + (MEMORY_BITS+2)'(parts[LENGTH_BITS-1:B]) <
              (MEMORY_BITS+2)'((1 << MEMORY_BITS) - 1024 / BYTES - 4)) state <= HEAD;
        end
        HEAD: begin
          head_at <= head_at + 2'd1;
          step_half <= 1'b0;
          book_addr <= 8'd0;
          book_left <= round_book_bytes;
          code_left <= code_bytes;
          entries_left <= entries;
          if (head_at == 2'(HEAD_WORDS - 1)) state <= has_step ? STEP : has_book ? BOOK : CODES;
        end
        STEP: begin
          step_half <= 1'b1;
          if (step_half) state <= has_book ? BOOK : CODES;
        end
        BOOK: begin
          book_addr <= book_addr + 8'd1;
          book_left <= book_left - 11'd4;
          if (ends_book) state <= CODES;
        end
        CODES: begin
          code_left <= code_left - (BLOCK_BITS+2)'(BYTES);
          if (ends_codes) state <= entries != 0 ? SIDE : DRAIN;
        end
        SIDE: begin
          entries_left <= entries_left - 1'b1;
          if (ends_side) state <= DRAIN;
        end
        DRAIN: if (block_joined) state <= NEXT;
        NEXT: begin
          lane_number <= lane_number + 7'd1;
          select <= select << 1;
          state <= round_taken ? WAIT : LOOK;
        end
        default: state <= WAIT;
      endcase
    end
  end

  // 1: asked for; 2: there; 3: chosen.
  logic [3:0]  state1, state2;
  logic [B:0]  bytes1, bytes2, bytes3;
  logic        last1, last2, last3, half1, half2, valid3;
  logic [8*BYTES-1:0] codes2, piece3;
  logic [48:0] entry2;
  logic [31:0] book2;
  always_ff @(posedge clk) begin
    state1 <= rst ? WAIT : state;
    bytes1 <= state == STEP ? (B+1)'(8)
              : state == BOOK ? (ends_book ? (B+1)'(book_left) : (B+1)'(4))
              : ends_codes ? (B+1)'(code_left) : (B+1)'(BYTES);
    last1 <= (state == CODES & ends_codes & entries == 0) | (state == SIDE & ends_side);
    half1 <= step_half;

    state2 <= rst ? WAIT : state1;
    bytes2 <= bytes1;
    last2 <= last1;
    half2 <= half1;
    codes2 <= codes_now;
    entry2 <= entry_now;
    book2 <= book_data;

    valid3 <= ~rst & (state2 == STEP | state2 == BOOK | state2 == CODES | state2 == SIDE);
    bytes3 <= state2 == SIDE ? (entry2[48] ? (B+1)'(6) : (B+1)'(4)) : bytes2;
    last3 <= last2;
    case (state2)
      STEP: piece3 <= half2 ? (8*BYTES)'(round_step) : (8*BYTES)'(round_bound);
      BOOK: piece3 <= (8*BYTES)'(book2);
      SIDE: piece3 <= (8*BYTES)'(entry2[47:0]);
      default: piece3 <= codes2;
    endcase
  end

  logic        joined_valid, joined_last;
  logic [B:0]  joined_bytes;
  logic [8*BYTES-1:0] joined;
  byte_joiner #(.BYTES(BYTES)) parts_joiner (
    .clk(clk), .rst(rst), .enable(1'b1), .in_valid(valid3), .in_last(last3), .in_bytes(bytes3),
    .in_data(piece3), .out_valid(joined_valid), .out_last(joined_last), .out_bytes(joined_bytes),
    .out_data(joined));

  // --- checksum ----------------------------------------------------------------------------------------

  // The state before a message is all ones: as if it were 0, zeros came first, and then the message with its
  // first four bytes inverted. So the head fills whole words at their end. What a block's last word lacks of
  // a whole one goes byte by byte.
  logic [8*BYTES*HEAD_WORDS-1:0] head_padded;
  assign head_padded = {head ^ HEAD_BITS'(32'hffffffff), {(8*BYTES*HEAD_WORDS-HEAD_BITS){1'b0}}};
  logic [31:0] crc, crc_from, crc_of_word, crc_of_byte;
  logic [8*BYTES-1:0] crc_word, tail;
  logic [B:0]  tail_left;
  logic        tail_ends;
  assign crc_from = state == HEAD && head_at == 0 ? 32'd0 : crc;
  always_comb begin
    crc_word = joined;
    for (i = 0; i < HEAD_WORDS; i = i + 1)
      if (state == HEAD && head_at == 2'(i)) crc_word = head_padded[8*BYTES*i+:8*BYTES];
  end
  crc32 #(.BYTES(BYTES)) crc_words (.state(crc_from), .data(crc_word), .next(crc_of_word));
  crc32 #(.BYTES(1)) crc_bytes (.state(crc), .data(tail[7:0]), .next(crc_of_byte));
  always_ff @(posedge clk) begin
    block_joined <= 1'b0;
    if (rst) begin
      tail_left <= '0;
      tail_ends <= 1'b0;
    end else begin
      tail_ends <= 1'b0;
      if (state == HEAD) begin
        crc <= crc_of_word;
      end else if (joined_valid & joined_bytes[B]) begin
        crc <= crc_of_word;
        tail_ends <= joined_last;
      end else if (joined_valid) begin
        tail <= joined;
        tail_left <= joined_bytes;
      end else if (tail_left != 0) begin
        crc <= crc_of_byte;
        tail <= tail >> 8;
        tail_left <= tail_left - 1'b1;
        tail_ends <= tail_left == 1;
      end
      block_joined <= tail_ends;
    end
  end

  // --- memories ----------------------------------------------------------------------------------------

  logic        enable;  // the way out moves
  logic [8*BYTES-1:0] memory [0:(1<<MEMORY_BITS)-1];
  logic [8*BYTES-1:0] memory_word;
  logic [MEMORY_BITS:0] memory_written, memory_read;
  assign memory_used = memory_written - memory_read;
  logic        reads_memory;
  always_ff @(posedge clk) begin
    if (joined_valid) memory[memory_written[MEMORY_BITS-1:0]] <= joined;
    if (enable) memory_word <= memory[memory_read[MEMORY_BITS-1:0]];
    if (rst) begin
      memory_written <= '0;
      memory_read <= '0;
    end else begin
      if (joined_valid) memory_written <= memory_written + 1'b1;
      if (enable & reads_memory) memory_read <= memory_read + 1'b1;
    end
  end

  // Headers with their checksums, and whether nothing follows.
  localparam int META_BITS = HEAD_BITS + 33;
  logic [META_BITS-1:0] metas [0:15];
  logic [META_BITS-1:0] meta;
  logic [4:0]  metas_written, metas_read;
  always_ff @(posedge clk) begin
    if (state == NEXT) metas[metas_written[3:0]] <= {is_last, ~crc, head};
    meta <= metas[metas_read[3:0]];
    meta_room <= 5'(metas_written - metas_read) < 5'd14;
    if (rst) metas_written <= '0;
    else if (state == NEXT) metas_written <= metas_written + 5'd1;
  end

  // --- out ---------------------------------------------------------------------------------------------

  localparam logic [2:0] OUT_IDLE = 3'd0, OUT_HEADER = 3'd1, OUT_WAIT = 3'd2, OUT_META = 3'd3, OUT_DATA = 3'd4;
  logic [2:0]  out_state, out_state1;
  logic [31:0] header [0:127];
  logic [31:0] header_word;
  logic [6:0]  header_at;
  logic [1:0]  meta_at, meta_at1;
  logic        meta_seen;
  logic [LENGTH_BITS-1:0] out_left;
  logic [B:0]  piece_bytes1;
  logic        piece_last1;
  assign reads_memory = out_state == OUT_DATA;
  assign enable = ~out_valid | out_ready;
  always_ff @(posedge clk) begin
    if (header_write) header[header_addr] <= header_data;
    if (rst) begin
      out_state <= OUT_IDLE;
      out_state1 <= OUT_IDLE;
      metas_read <= '0;
    end else if (enable) begin
      header_word <= header[header_at];
      out_state1 <= out_state;
      meta_at1 <= meta_at;
      piece_last1 <= 1'b0;
      case (out_state)
        OUT_IDLE: begin
          header_at <= 7'd0;
          if (start) out_state <= OUT_HEADER;
        end
        OUT_HEADER: begin
          header_at <= header_at + 7'd1;
          piece_bytes1 <= (B+1)'(4);
          meta_seen <= 1'b0;
          if (header_at + 7'd1 == header_words) out_state <= OUT_WAIT;
        end
        OUT_WAIT: begin
          // `meta` shows what stands there one cycle after it was written.
          meta_seen <= metas_written != metas_read;
          meta_at <= 2'd0;
          if (meta_seen) out_state <= OUT_META;
        end
        OUT_META: begin
          meta_at <= meta_at + 2'd1;
          piece_bytes1 <= (B+1)'(8);
          out_left <= meta[128+:LENGTH_BITS];
          if (meta_at == 2'd2) out_state <= OUT_DATA;
        end
        OUT_DATA: begin
          out_left <= out_left - LENGTH_BITS'(BYTES);
          piece_bytes1 <= (B+1)'(BYTES);
          if (out_left <= LENGTH_BITS'(BYTES)) begin
            piece_bytes1 <= (B+1)'(out_left);
            piece_last1 <= meta[META_BITS-1];
            metas_read <= metas_read + 5'd1;
            meta_seen <= 1'b0;
            out_state <= meta[META_BITS-1] ? OUT_IDLE : OUT_WAIT;
          end
        end
        default: out_state <= OUT_IDLE;
      endcase
    end
  end

  logic [191:0] meta_bytes;
  logic [8*BYTES-1:0] piece1;
  logic        piece_valid1;
  logic [B:0]  word_bytes;
  assign meta_bytes = meta[191:0];
  assign piece_valid1 = out_state1 == OUT_HEADER | out_state1 == OUT_META | out_state1 == OUT_DATA;
  always_comb begin
    case (out_state1)
      OUT_HEADER: piece1 = (8*BYTES)'(header_word);
      OUT_META: piece1 = meta_at1 == 0   ? (8*BYTES)'(meta_bytes[63:0])
                         : meta_at1 == 1 ? (8*BYTES)'(meta_bytes[127:64])
                                         : (8*BYTES)'(meta_bytes[191:128]);
      default: piece1 = memory_word;
    endcase
  end
  byte_joiner #(.BYTES(BYTES)) out_joiner (
    .clk(clk), .rst(rst), .enable(enable), .in_valid(piece_valid1), .in_last(piece_last1),
    .in_bytes(piece_bytes1), .in_data(piece1), .out_valid(out_valid), .out_last(out_last),
    .out_bytes(word_bytes), .out_data(out_data));
  always_comb begin
    for (i = 0; i < BYTES; i = i + 1) out_keep[i] = (B+1)'(i) < word_bytes;
  end
endmodule
