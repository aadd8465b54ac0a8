// SPDX-License-Identifier: BSD-3-Clause
// Packed blocks of the lanes, in order, to the bytes of a Neve stream (docs/format.md, "Stream header", "Block").
//
// A block's checksum stands before its payload. So payloads go into a memory while their checksum grows, and
// leave behind their header when it is known. A block starts when the memory has room for all of it.
//
// The checksum goes over header and payload together, in whole words: its length is known before, and zeros in front,
// which do not count, make it end where a word ends. So a payload begins anywhere in its first word.
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
  input  logic [1:0]  round_codebook,
  input  logic [3:0]  round_offline_codebook,
  input  logic [10:0] round_codebook_bytes,
  input  logic        round_has_step,     // its first block, which then restarts
  input  logic        round_restarts,     // all its blocks
  input  logic [6:0]  round_lanes,
  input  logic        round_is_last,
  // What precedes codes, in words of 4 bytes: bound and step, each a float64, and the codebook. A word comes one cycle
  // after it was asked for, and zeros when none was.
  output logic        step_read,
  output logic [1:0]  step_addr,
  output logic        codebook_read,
  output logic [7:0]  codebook_addr,
  input  logic [31:0] word_data,

  // Of the lanes, side by side (lane.sv). Each shows zeros but in the cycle after it was asked.
  input  logic [LANES-1:0] packed_valid,
  output logic [LANES-1:0] packed_read,
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
  localparam int HEAD_BYTES = 20;  // of a block's header, without the checksum
  localparam logic [2:0] HEAD_LAST = 3'(HEAD_BYTES / 4 - 1);
  localparam int LENGTH_BITS = BLOCK_BITS + 5;  // of a payload
  localparam int LEVELS = $clog2(LANES);  // cycles that lanes are joined in
  localparam int INFLIGHT = 16;  // words between a block's last part and the memory, and more

  // --- which lane --------------------------------------------------------------------------------------

  logic [LANES-1:0] select;
  logic [6:0]  lane_number;
  logic [INFO_BITS-1:0] info;
  logic [8*BYTES-1:0] codes_now;
  logic [48:0] entry_now;
  localparam int LANE_OUT_BITS = INFO_BITS + 8 * BYTES + 49;
  logic [LANES*LANE_OUT_BITS-1:0] lanes_out;
  integer i;
  always_comb begin
    for (i = 0; i < LANES; i = i + 1)
      lanes_out[LANE_OUT_BITS*i+:LANE_OUT_BITS] = {packed_values[(BLOCK_BITS+1)*i+:BLOCK_BITS+1],
                                                   packed_symbols[(BLOCK_BITS+1)*i+:BLOCK_BITS+1],
                                                   packed_entries[(BLOCK_BITS+1)*i+:BLOCK_BITS+1],
                                                   packed_side_bytes[(BLOCK_BITS+3)*i+:BLOCK_BITS+3],
                                                   packed_code_bytes[(BLOCK_BITS+2)*i+:BLOCK_BITS+2],
                                                   codes_data[8*BYTES*i+:8*BYTES], side_entry[49*i+:49]};
  end
  joined #(.N(LANES), .WIDTH(LANE_OUT_BITS)) lanes_joined (
    .clk(clk), .in(lanes_out), .out({info, codes_now, entry_now}));

  // --- a block's parts ---------------------------------------------------------------------------------

  localparam logic [3:0] WAIT = 4'd0, LOOK = 4'd1, TAKE = 4'd2, SUM = 4'd3, ROOM = 4'd4, HEAD = 4'd5, STEP = 4'd6,
                         CODEBOOK = 4'd7, CODES = 4'd8, SIDE = 4'd9, NEXT = 4'd10;
  logic [3:0]  state;
  logic [BLOCK_BITS:0] values, symbols, entries;
  logic [BLOCK_BITS+2:0] side_bytes;
  logic [BLOCK_BITS+1:0] code_bytes, code_left;
  logic [BLOCK_BITS:0] entries_left;
  logic [LENGTH_BITS-1:0] parts, payload;
  logic [10:0] codebook_left;
  logic        has_step, has_codebook, has_offline_codebook, is_first_lane, is_last;
  logic [2:0]  head_at;
  logic [2:0]  take_at;
  logic        meta_room;
  logic [MEMORY_BITS:0] memory_used;

  logic ends_codes, ends_codebook, ends_side;
  assign ends_codes = code_left <= (BLOCK_BITS+2)'(BYTES);
  assign ends_codebook = codebook_left <= 11'd4;
  assign ends_side = entries_left == 1;
  assign packed_read = state == LOOK ? select : '0;
  assign codes_read = state == CODES ? select : '0;
  assign side_read = state == SIDE ? select : '0;
  assign step_read = state == STEP;
  assign codebook_read = state == CODEBOOK;
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
          if (round_valid) state <= LOOK;
        end
        LOOK: begin
          take_at <= 3'd0;
          if (|(packed_valid & select) & meta_room) state <= TAKE;
        end
        TAKE: begin
          {values, symbols, entries, side_bytes, code_bytes} <= info;
          is_first_lane <= select[0];
          has_step <= round_has_step & select[0];
          has_codebook <= round_codebook == neve_pkg::CODEBOOK_REBUILT & select[0];
          has_offline_codebook <= round_codebook == neve_pkg::CODEBOOK_OFFLINE & select[0];
          is_last <= round_is_last & lane_number + 7'd1 == round_lanes;
          take_at <= take_at + 3'd1;
          if (take_at == 3'(LEVELS)) state <= SUM;
        end
        SUM: begin
          parts <= LENGTH_BITS'(code_bytes) + LENGTH_BITS'(side_bytes);
          state <= ROOM;
        end
        ROOM: begin
          payload <= parts + (has_step ? LENGTH_BITS'(16) : '0) +
                     (has_codebook ? LENGTH_BITS'(round_codebook_bytes) : '0);
          head_at <= 3'd0;
          // A codebook and a step and a word less than whole come on top of what `parts` says.
          if ({1'b0, memory_used} + (MEMORY_BITS+2)'(parts[LENGTH_BITS-1:B]) <
              (MEMORY_BITS+2)'((1 << MEMORY_BITS) - 1024 / BYTES - 4 - INFLIGHT)) state <= HEAD;
        end
        HEAD: begin
          head_at <= head_at + 3'd1;
          step_addr <= 2'd0;
          codebook_addr <= 8'd0;
          codebook_left <= round_codebook_bytes;
          code_left <= code_bytes;
          entries_left <= entries;
          if (head_at == HEAD_LAST) state <= has_step ? STEP : has_codebook ? CODEBOOK : CODES;
        end
        STEP: begin
          step_addr <= step_addr + 2'd1;
          if (&step_addr) state <= has_codebook ? CODEBOOK : CODES;
        end
        CODEBOOK: begin
          codebook_addr <= codebook_addr + 8'd1;
          codebook_left <= codebook_left - 11'd4;
          if (ends_codebook) state <= CODES;
        end
        CODES: begin
          code_left <= code_left - (BLOCK_BITS+2)'(BYTES);
          if (ends_codes) state <= entries != 0 ? SIDE : NEXT;
        end
        SIDE: begin
          entries_left <= entries_left - 1'b1;
          if (ends_side) state <= NEXT;
        end
        NEXT: begin
          lane_number <= lane_number + 7'd1;
          select <= select << 1;
          state <= round_taken ? WAIT : LOOK;
        end
        default: state <= WAIT;
      endcase
    end
  end

  localparam int LAST_BLOCK_BIT = 20;  // of a header's first word
  logic [31:0] head_word;
  always_comb begin
    case (head_at)
      3'd0: head_word = {4'b0, has_offline_codebook ? round_offline_codebook : 4'd0,
                         3'b0, is_last, has_step, has_step | round_restarts,
                         is_first_lane ? round_codebook : neve_pkg::CODEBOOK_KEPT, 16'h424e};
      3'd1: head_word = 32'(values);
      3'd2: head_word = 32'(symbols);
      3'd3: head_word = 32'(side_bytes);
      default: head_word = 32'(payload);
    endcase
  end

  // Where a block's first byte goes, so that its last one fills a word.
  logic        begins;
  logic [B-1:0] zeros;
  assign begins = state == HEAD & head_at == 3'd0;
  assign zeros = B'(-HEAD_BYTES) - payload[B-1:0];

  // Words of 4 bytes, from `word1` or from outside. 1: asked for; 2: there.
  logic        words1, words2;
  logic [B:0]  word_bytes1, word_bytes2;
  logic [31:0] word1, word2;
  always_ff @(posedge clk) begin
    words1 <= ~rst & (state == HEAD | state == STEP | state == CODEBOOK);
    word_bytes1 <= state == CODEBOOK & ends_codebook ? (B+1)'(codebook_left) : (B+1)'(4);
    word1 <= state == HEAD ? head_word : 32'd0;

    words2 <= words1 & ~rst;
    word_bytes2 <= word_bytes1;
    word2 <= word1 | word_data;
  end

  // Of a lane, which take LEVELS cycles more, and so come behind all of a block's words and before those of the next
  // block, for whose sizes the same holds. 1: asked for; THERE: there.
  localparam int THERE = LEVELS + 2;
  logic [THERE:1] codes_wait, side_wait, last_wait;
  logic [THERE*(B+1)-1:0] bytes_wait;
  logic [8*BYTES-1:0] codes2;
  logic [48:0] entry2;
  logic        has_codes2, has_side2, last2;
  logic [B:0]  bytes2;
  always_ff @(posedge clk) begin
    codes_wait <= rst ? '0 : {codes_wait[THERE-1:1], state == CODES};
    side_wait <= rst ? '0 : {side_wait[THERE-1:1], state == SIDE};
    last_wait <= {last_wait[THERE-1:1],
                  (state == CODES & ends_codes & entries == 0) | (state == SIDE & ends_side)};
    bytes_wait <= {bytes_wait[(THERE-1)*(B+1)-1:0], ends_codes ? (B+1)'(code_left) : (B+1)'(BYTES)};
    codes2 <= codes_now;
    entry2 <= entry_now;
  end
  assign has_codes2 = codes_wait[THERE];
  assign has_side2 = side_wait[THERE];
  assign last2 = last_wait[THERE];
  assign bytes2 = bytes_wait[(THERE-1)*(B+1)+:B+1];

  // 3: one of them, all others being zero.
  logic        last3, valid3;
  logic [B:0]  bytes3;
  logic [8*BYTES-1:0] piece3;
  always_ff @(posedge clk) begin
    valid3 <= ~rst & (words2 | has_codes2 | has_side2);
    bytes3 <= words2 ? word_bytes2 : has_side2 ? (entry2[48] ? (B+1)'(6) : (B+1)'(4)) : bytes2;
    last3 <= last2;
    piece3 <= codes2 | (8*BYTES)'(entry2[47:0]) | (8*BYTES)'(word2);
  end

  logic        joined_valid, joined_last, begins1;
  logic [B-1:0] zeros1;
  logic [8*BYTES-1:0] joined;
  byte_joiner #(.BYTES(BYTES)) parts_joiner (
    .clk(clk), .rst(rst), .enable(1'b1), .begin_valid(begins1), .begin_at(zeros1), .in_valid(valid3),
    .in_last(last3), .in_bytes(bytes3), .in_skip({B{1'b0}}), .in_data(piece3), .out_valid(joined_valid),
    .out_last(joined_last), .out_bytes(), .out_data(joined));

  // --- checksum ----------------------------------------------------------------------------------------

  // A block begins for the joiner before its first part, for the memory between the last word of the block before
  // and its own first one, and for the checksum when that of the block before is there. Words come 7 cycles after
  // their state, checksums 11; the last part of the block before came 6 cycles before HEAD at least, late as it is.
  localparam int CRC_CYCLES = 4;
  logic [6:2]  begun;
  logic [B:0]  skips;
  logic [CRC_CYCLES:1] crc_ends;
  logic [31:0] crc;
  always_ff @(posedge clk) begin
    begins1 <= begins & ~rst;
    if (begins) zeros1 <= zeros;
    begun <= rst ? '0 : {begun[5:2], begins1};
    crc_ends <= rst ? '0 : {crc_ends[CRC_CYCLES-1:1], joined_valid & joined_last};
    if (begun[2]) skips <= (B+1)'((6'(zeros1) + 6'(HEAD_BYTES)) >> B);
    else if (joined_valid & skips != 0) skips <= skips - 1'b1;
  end
  crc32 #(.BYTES(BYTES)) checksum (
    .clk(clk), .start(begun[6]), .zeros(zeros1), .word_valid(joined_valid), .word(joined), .crc(crc));

  // --- memories ----------------------------------------------------------------------------------------

  // Each shows zeros where it is not read.
  logic        enable;  // the way out moves
  logic        reads_header, reads_head, reads_crc, reads_memory;
  logic [8*BYTES-1:0] memory_word;
  logic [MEMORY_BITS:0] memory_written, memory_read;
  logic        memory_write;
  assign memory_used = memory_written - memory_read;
  assign memory_write = joined_valid & skips == 0;
  gated_ram #(.WIDTH(8 * BYTES), .DEPTH(1 << MEMORY_BITS)) payloads (
    .clk(clk), .write(memory_write), .write_addr(memory_written[MEMORY_BITS-1:0]), .write_data(joined),
    .enable(enable), .read(reads_memory), .read_addr(memory_read[MEMORY_BITS-1:0]), .read_data(memory_word));
  always_ff @(posedge clk) begin
    if (rst) begin
      memory_written <= '0;
      memory_read <= '0;
    end else begin
      if (memory_write) memory_written <= memory_written + 1'b1;
      if (enable & reads_memory) memory_read <= memory_read + 1'b1;
    end
  end

  // Headers of blocks, a word a place, and their checksums.
  logic [2:0]  head_at1, out_at;
  logic        heads;
  logic [4:0]  heads_written, crcs_written, heads_read;
  logic [31:0] head_out, crc_out;
  gated_ram #(.WIDTH(32), .DEPTH(128)) head_words (
    .clk(clk), .write(heads), .write_addr({heads_written[3:0], head_at1}), .write_data(word1), .enable(enable),
    .read(reads_head), .read_addr({heads_read[3:0], out_at}), .read_data(head_out));
  gated_ram #(.WIDTH(32), .DEPTH(16)) checksums (
    .clk(clk), .write(crc_ends[CRC_CYCLES]), .write_addr(crcs_written[3:0]), .write_data(~crc), .enable(enable),
    .read(reads_crc), .read_addr(heads_read[3:0]), .read_data(crc_out));
  always_ff @(posedge clk) begin
    head_at1 <= head_at;
    heads <= ~rst & state == HEAD;
    meta_room <= 5'(heads_written - heads_read) < 5'd14;
    if (rst) begin
      heads_written <= '0;
      crcs_written <= '0;
    end else begin
      if (heads & head_at1 == HEAD_LAST) heads_written <= heads_written + 5'd1;
      if (crc_ends[CRC_CYCLES]) crcs_written <= crcs_written + 5'd1;
    end
  end

  // --- out ---------------------------------------------------------------------------------------------

  localparam logic [2:0] OUT_IDLE = 3'd0, OUT_HEADER = 3'd1, OUT_WAIT = 3'd2, OUT_HEAD = 3'd3, OUT_CRC = 3'd4,
                         OUT_DATA = 3'd5;
  logic [2:0]  out_state;
  logic [6:0]  header_at;
  logic [31:0] header_out;
  gated_ram #(.WIDTH(32), .DEPTH(128)) stream_header (
    .clk(clk), .write(header_write), .write_addr(header_addr), .write_data(header_data), .enable(enable),
    .read(reads_header), .read_addr(header_at), .read_data(header_out));
  logic        out_seen, valid1, last_block, is_first, whole, out_last1;
  logic [2:0]  out_at1;
  logic        head1;
  logic [LENGTH_BITS-1:B] out_left;  // whole words
  logic [B-1:0] part, skip1;         // bytes of the payload in its first word, 0: all
  logic [B:0]  out_bytes1;
  logic        ends_payload;
  assign reads_header = out_state == OUT_HEADER;
  assign reads_head = out_state == OUT_HEAD;
  assign reads_crc = out_state == OUT_CRC;
  assign reads_memory = out_state == OUT_DATA;
  assign enable = ~out_valid | out_ready;
  assign ends_payload = whole ? out_left == 1 : out_left == 0;
  always_ff @(posedge clk) begin
    if (rst) begin
      out_state <= OUT_IDLE;
      valid1 <= 1'b0;
      heads_read <= '0;
    end else if (enable) begin
      valid1 <= reads_header | reads_head | reads_crc | reads_memory;
      head1 <= reads_head;
      out_at1 <= out_at;
      out_last1 <= 1'b0;
      out_bytes1 <= (B+1)'(4);
      skip1 <= '0;
      if (head1 & out_at1 == 3'd0) last_block <= head_out[LAST_BLOCK_BIT];
      if (head1 & out_at1 == HEAD_LAST) {out_left, part} <= head_out[LENGTH_BITS-1:0];
      case (out_state)
        OUT_IDLE: begin
          header_at <= 7'd0;
          if (start) out_state <= OUT_HEADER;
        end
        OUT_HEADER: begin
          header_at <= header_at + 7'd1;
          out_seen <= 1'b0;
          if (header_at + 7'd1 == header_words) out_state <= OUT_WAIT;
        end
        OUT_WAIT: begin
          // What was written last is there a cycle later.
          out_seen <= crcs_written != heads_read;
          out_at <= 3'd0;
          if (out_seen) out_state <= OUT_HEAD;
        end
        OUT_HEAD: begin
          out_at <= out_at + 3'd1;
          if (out_at == HEAD_LAST) out_state <= OUT_CRC;
        end
        OUT_CRC: begin
          is_first <= 1'b1;
          out_state <= OUT_DATA;
        end
        OUT_DATA: begin
          is_first <= 1'b0;
          if (whole) out_left <= out_left - 1'b1;
          out_bytes1 <= whole ? (B+1)'(BYTES) : {1'b0, part};
          if (~whole) skip1 <= -part;
          if (ends_payload) begin
            out_last1 <= last_block;
            heads_read <= heads_read + 5'd1;
            out_seen <= 1'b0;
            out_state <= last_block ? OUT_IDLE : OUT_WAIT;
          end
        end
        default: out_state <= OUT_IDLE;
      endcase
    end
  end
  assign whole = ~is_first | part == '0;

  logic [B:0]  word_bytes;
  byte_joiner #(.BYTES(BYTES)) out_joiner (
    .clk(clk), .rst(rst), .enable(enable), .begin_valid(1'b0), .begin_at({B{1'b0}}), .in_valid(valid1),
    .in_last(out_last1), .in_bytes(out_bytes1), .in_skip(skip1),
    .in_data(memory_word | {{(8*BYTES-32){1'b0}}, header_out | head_out | crc_out}), .out_valid(out_valid),
    .out_last(out_last), .out_bytes(word_bytes), .out_data(out_data));
  always_comb begin
    for (i = 0; i < BYTES; i = i + 1) out_keep[i] = (B+1)'(i) < word_bytes;
  end
endmodule
