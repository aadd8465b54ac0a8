// SPDX-License-Identifier: BSD-3-Clause
// Code lengths to the bytes of a codebook (docs/format.md, "Codebook"), as write_codebook() in
// src/core/stream/codebook.cpp: a pass that finds the first and last symbol with a code, and one that writes. About
// 2,060 cycles.
module codebook_writer (
    input  logic                            clk,
    input  logic                            rst,
    input  logic                            start,
    output logic [neve_pkg::SYMBOL_BITS-1:0] length_addr,
    input  logic [neve_pkg::LENGTH_BITS-1:0] length_data,
    output logic                            word_valid,
    output logic [                    31:0] word_data,
    output logic [                    10:0] byte_count,
    output logic                            busy,
    output logic                            done
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int L = neve_pkg::LENGTH_BITS;
  localparam int P = 10;  // most bits at once
  localparam logic [S-1:0] LAST_SYMBOL = S'(neve_pkg::SYMBOLS - 1);

  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] SEARCH = 3'd1;
  localparam logic [2:0] SEARCH_END = 3'd2;
  localparam logic [2:0] PUT_FIRST = 3'd3;
  localparam logic [2:0] PUT_LAST = 3'd4;
  localparam logic [2:0] PUT_LENGTHS = 3'd5;
  localparam logic [2:0] FLUSH = 3'd6;
  logic [2:0] state;
  assign busy = state != IDLE;

  logic [S-1:0] first, last;
  logic found;
  // The length asked for in the cycle before.
  logic answers;
  logic [S-1:0] answered;
  logic [L-1:0] previous;

  // Bits of this cycle, the first one lowest; then moved behind those that wait for a word.
  logic put;
  logic [P-1:0] put_bits;
  logic [3:0] put_count;
  logic [4:0] fill;
  logic [5:0] filled;
  assign filled = {1'b0, fill} + {2'b0, put_count};
  logic moved_valid, moved_fills;
  logic [31+P:0] moved;
  logic [31:0] waiting;
  logic [2:0] drained;

  always_ff @(posedge clk) begin
    done <= 1'b0;
    put <= 1'b0;
    word_valid <= 1'b0;
    answers <= 1'b0;
    answered <= length_addr;

    unique case (state)
      SEARCH: begin
        answers <= 1'b1;
        length_addr <= length_addr + S'(1);
        if (&length_addr) state <= SEARCH_END;
      end
      SEARCH_END: if (!answers) state <= PUT_FIRST;
      PUT_FIRST: begin
        put <= 1'b1;
        put_bits <= P'(first);
        put_count <= 4'(S);
        length_addr <= first;
        previous <= '0;
        state <= PUT_LAST;
      end
      PUT_LAST: begin
        put <= 1'b1;
        put_bits <= P'(last);
        put_count <= 4'(S);
        answers <= 1'b1;
        length_addr <= length_addr + S'(1);
        state <= PUT_LENGTHS;
      end
      PUT_LENGTHS: begin
        put <= 1'b1;
        previous <= length_data;
        if (length_data == previous) begin
          put_bits <= P'(1'b0);
          put_count <= 4'd1;
        end else if (length_data == previous + L'(1)) begin
          put_bits <= P'(3'b001);
          put_count <= 4'd3;
        end else if (length_data + L'(1) == previous) begin
          put_bits <= P'(3'b101);
          put_count <= 4'd3;
        end else begin
          put_bits <= P'({length_data, 2'b11});
          put_count <= 4'(L + 2);
        end
        length_addr <= length_addr + S'(1);
        drained <= '0;
        if (answered == last) state <= FLUSH;
      end
      FLUSH: begin
        drained <= drained + 3'd1;
        if (drained == 3'd3) begin
          word_valid <= fill != '0;
          word_data <= waiting;
          byte_count <= byte_count + {8'd0, 3'(({1'b0, fill} + 6'd7) >> 3)};
        end
        if (drained == 3'd4) begin
          done <= 1'b1;
          state <= IDLE;
        end
      end
      default: ;
    endcase

    if (state == SEARCH || state == SEARCH_END) begin
      if (answers && length_data != '0) begin
        if (!found) first <= answered;
        last <= answered;
        found <= 1'b1;
      end
    end

    if (put) fill <= filled[4:0];
    moved_valid <= put;
    moved_fills <= put && filled[5];
    moved <= (32 + P)'(put_bits) << fill;
    if (moved_valid) begin
      waiting <= waiting | moved[31:0];
      if (moved_fills) begin
        word_valid <= 1'b1;
        word_data <= waiting | moved[31:0];
        waiting <= 32'(moved[31+P:32]);
        byte_count <= byte_count + 11'd4;
      end
    end

    if (start) begin
      length_addr <= '0;
      first <= LAST_SYMBOL;
      last <= LAST_SYMBOL;
      found <= 1'b0;
      fill <= '0;
      waiting <= '0;
      byte_count <= '0;
      state <= SEARCH;
    end
    if (rst) begin
      state <= IDLE;
      put <= 1'b0;
      moved_valid <= 1'b0;
      word_valid <= 1'b0;
      answers <= 1'b0;
      done <= 1'b0;
    end
  end
endmodule
