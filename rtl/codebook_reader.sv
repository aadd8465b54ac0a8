// SPDX-License-Identifier: BSD-3-Clause
// A codebook's bytes to the lengths of symbols 0 to 1023 (docs/format.md, "Codebook"), as read_codebook() in
// src/core/stream/codebook.cpp; or the lengths of an offline codebook. A length a cycle where bytes and whoever takes
// it keep up.
module codebook_reader (
    input  logic                             clk,
    input  logic                             rst,
    input  logic                             start,
    input  logic                             is_offline,
    input  logic [                      3:0] offline_codebook,
    // No byte is taken behind those of the codebook.
    input  logic                             byte_valid,
    output logic                             byte_ready,
    input  logic [                      7:0] byte_data,
    output logic                             length_valid,
    input  logic                             length_ready,
    output logic [neve_pkg::LENGTH_BITS-1:0] length,
    output logic                             busy,
    output logic                             failed         // until the next start: what comes is no codebook
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int L = neve_pkg::LENGTH_BITS;
  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] FIRST = 3'd1;
  localparam logic [2:0] LAST = 3'd2;
  localparam logic [2:0] LENGTHS = 3'd3;  // of the symbols before the first as well
  localparam logic [2:0] FETCH = 3'd4;    // of an offline codebook
  localparam logic [2:0] OFFLINE = 3'd5;
  localparam logic [2:0] REST = 3'd6;     // of lengths that are 0
  logic [2:0] state;
  assign busy = state != IDLE;

  // Bits that have come, the first one lowest.
  logic [16:0] bits;
  logic [4:0] count, taken;
  logic [L+1:0] next;
  logic is_same, is_near, is_whole;  // how the next length is written, where so many bits are there
  assign next = bits[L+1:0];
  assign is_same = count >= 5'd1 && !next[0];
  assign is_near = count >= 5'd3 && next[1:0] == 2'b01;
  assign is_whole = count >= 5'(L + 2) && next[1:0] == 2'b11;

  logic [S-1:0] symbol, first, last;
  logic [L-1:0] previous, coded;
  logic is_coded, is_too_long, puts;
  assign coded = next[0] == 1'b0 ? previous : next[1] ? next[L+1:2] : next[2] ? previous - L'(1) : previous + L'(1);
  // More than 16 bits, or less than none; no length before it was.
  assign is_too_long = next[0] && (next[1] ? next[6] && next[5:2] != '0 : next[2] ? previous == '0 : previous[4]);
  assign is_coded = is_same || is_near || is_whole;

  // A length waits for whoever takes it.
  assign puts = !length_valid || length_ready;
  assign byte_ready = count <= 5'd9 && (((state == FIRST || state == LAST) && count < 5'(S)) ||
      (state == LENGTHS && symbol >= first && !is_coded));

  logic [5*neve_pkg::OFFLINE_CODEBOOKS-1:0] all_lengths;
  offline_lengths offline (
      .clk,
      .symbol,
      .lengths(all_lengths)
  );
  logic [L-1:0] offline_length;
  always_comb begin
    offline_length = '0;
    for (int b = 0; b < neve_pkg::OFFLINE_CODEBOOKS; b++)
      if (offline_codebook == 4'(b)) offline_length = all_lengths[L*b+:L];
  end

  always_comb begin
    taken = '0;
    if ((state == FIRST || state == LAST) && count >= 5'(S)) taken = 5'(S);
    if (state == LENGTHS && symbol >= first && puts) taken = is_same ? 5'd1 : is_near ? 5'd3 : is_whole ? 5'(L + 2) : 5'd0;
  end

  always_ff @(posedge clk) begin
    if (length_ready) length_valid <= 1'b0;
    // A byte comes only where bits are lacking: none are taken in that cycle.
    if (byte_valid && byte_ready) begin
      bits <= bits | (17'(byte_data) << count);
      count <= count + 5'd8;
    end else begin
      bits <= bits >> taken;
      count <= count - taken;
    end
    unique case (state)
      FIRST: begin
        first <= bits[S-1:0];
        if (taken != '0) state <= LAST;
      end
      LAST: begin
        last <= bits[S-1:0];
        previous <= '0;
        symbol <= '0;
        if (taken != '0) begin
          failed <= bits[S-1:0] < first;
          state <= bits[S-1:0] < first ? IDLE : LENGTHS;
        end
      end
      LENGTHS: begin
        if (puts && (symbol < first || is_coded)) begin
          length_valid <= 1'b1;
          length <= symbol < first ? '0 : coded;
          symbol <= symbol + S'(1);
          if (symbol >= first) begin
            previous <= coded;
            if (symbol == last) state <= &symbol ? IDLE : REST;
            if (is_too_long) begin
              failed <= 1'b1;
              state <= IDLE;
            end
          end
        end
      end
      REST: begin
        if (puts) begin
          length_valid <= 1'b1;
          length <= '0;
          symbol <= symbol + S'(1);
          if (&symbol) state <= IDLE;
        end
      end
      FETCH: state <= OFFLINE;
      OFFLINE: begin
        if (puts) begin
          length_valid <= 1'b1;
          length <= offline_length;
          symbol <= symbol + S'(1);
          state <= &symbol ? IDLE : FETCH;
        end
      end
      default: ;
    endcase
    if (start) begin
      bits <= '0;
      count <= '0;
      symbol <= '0;
      failed <= 1'b0;
      length_valid <= 1'b0;
      state <= is_offline ? FETCH : FIRST;
    end
    if (rst) begin
      length_valid <= 1'b0;
      failed <= 1'b0;
      state <= IDLE;
    end
  end
endmodule
