// SPDX-License-Identifier: BSD-3-Clause
// The header of a stream (docs/format.md, "Stream"), word by word: its fields, then its sizes, whose product is the number
// of values. What it says counts when its checksum has been compared; until then only what cannot be read is refused.
module header_reader #(
    parameter int BLOCK_BITS = 12,
    parameter int LINE_BITS = 12,
    parameter int PLANE_BITS = 12,
    parameter int TOTAL_BITS = 41  // of a number of values
) (
    input  logic                  clk,
    input  logic                  begins,         // for a cycle at least, in front of the first word
    input  logic                  runs,           // until `done`
    input  logic                  takes_four,
    input  logic [          31:0] bytes,
    output logic                  reads,          // wants the next word
    output logic                  done,
    output logic                  refused,        // with a number of neve_pkg.sv
    output logic [           3:0] failure,
    output logic                  is_bad,         // a field has a value that the format does not allow
    output logic                  is_beyond,      // what the decoder is not built for
    output logic [           1:0] dims,
    output logic [ LINE_BITS-1:0] line_last,
    output logic [          15:0] plane_last,
    output logic [  PLANE_BITS:0] plane_values,   // 0: too many to look back
    output logic                  plane_is_kept,
    output logic                  has_fill,
    output logic [          31:0] fill,
    output logic [          24:0] max_values,    // of a block
    output logic [TOTAL_BITS-1:0] total,          // of the sizes that are not open
    output logic                  is_open
);
  localparam int MAX_RANK = 32;
  localparam int MIN_BLOCK = 256;
  localparam int MAX_BLOCK = 1 << 24;
  localparam int MAX_LINES = 1 << 16;

  localparam logic [1:0] WORDS = 2'd0;
  localparam logic [1:0] SIZE_LOW = 2'd1;
  localparam logic [1:0] SIZE_HIGH = 2'd2;
  localparam logic [1:0] MULTIPLY = 2'd3;  // sizes to the number of values; at last lines to a plane
  logic [1:0] state;
  logic [3:0] at;
  logic [5:0] rank_left;
  logic is_first_size, is_plane, takes_word, is_multiplied;
  logic [31:0] line, lines, size_low, fill_low;
  assign reads = state != MULTIPLY;
  assign takes_word = runs && state == WORDS && takes_four;
  assign done = runs && is_multiplied && is_plane;
  always_comb begin
    refused = 1'b0;
    failure = '0;
    if (takes_word && at == 4'd0 && bytes != 32'h5356454e) begin
      refused = 1'b1;
      failure = neve_pkg::NOT_A_STREAM;
    end
    if (takes_word && at == 4'd1 && bytes[15:0] != 16'd1) begin
      refused = 1'b1;
      failure = neve_pkg::VERSION;
    end
    if (takes_word && at == 4'd2 && bytes[23:16] > 8'(MAX_RANK)) begin
      refused = 1'b1;
      failure = neve_pkg::HEADER;
    end
    // A raw stream, whose header is another from here on.
    if (takes_word && at == 4'd2 && bytes[23:16] <= 8'(MAX_RANK) && bytes[1]) begin
      refused = 1'b1;
      failure = neve_pkg::NOT_BUILT_FOR;
    end
  end

  // The fill value in float32: NaN and what overflows never is a value's quantization code, so that they need not be
  // known.
  logic [31:0] fill_rounded;
  logic [10:0] fill_exponent;
  assign fill_exponent = bytes[30:20];
  assign fill_rounded = {bytes[31], 8'(fill_exponent - 11'd896), bytes[19:0], fill_low[31:29]} +
      32'(fill_low[28] && (fill_low[27:0] != '0 || fill_low[29]));

  // Products; that of an open size is what the others make.
  logic ends_words, takes_size, size_is_open;
  logic [TOTAL_BITS:0] product;
  logic product_is_beyond;
  assign ends_words = takes_word && at == 4'd11;
  assign takes_size = runs && state == SIZE_HIGH && takes_four;
  assign size_is_open = {bytes, size_low} == '0;
  size_product #(
      .BITS(TOTAL_BITS)
  ) sizes (
      .clk,
      .load(ends_words || takes_size || (runs && is_multiplied)),
      .a(takes_size ? total : TOTAL_BITS'(line)),
      .b(takes_size ? {bytes[TOTAL_BITS-33:0], size_low} : TOTAL_BITS'(lines)),
      .base(takes_size && size_is_open ? {1'b0, total} : '0),
      .runs(runs && state == MULTIPLY),
      .is_through(is_multiplied),
      .product,
      .is_beyond(product_is_beyond)
  );

  always_ff @(posedge clk) begin
    if (takes_word) begin
      at <= at + 4'd1;
      if (ends_words) state <= rank_left == '0 ? MULTIPLY : SIZE_LOW;
      if (ends_words) is_plane <= rank_left == '0;
    end
    if (runs && state == SIZE_LOW && takes_four) state <= SIZE_HIGH;
    if (takes_size) begin
      is_first_size <= 1'b0;
      rank_left <= rank_left - 6'd1;
      if (size_is_open) is_open <= 1'b1;
      state <= MULTIPLY;
    end
    if (runs && is_multiplied) begin
      if (is_plane) begin
        plane_is_kept <= !product_is_beyond && product <= (TOTAL_BITS + 1)'(1 << PLANE_BITS);
        plane_values <= !product_is_beyond && product <= (TOTAL_BITS + 1)'(1 << PLANE_BITS) ? product[PLANE_BITS:0] : '0;
      end else begin
        total <= product[TOTAL_BITS-1:0];
        is_plane <= rank_left == '0;
        if (rank_left != '0) state <= SIZE_LOW;
      end
    end
    if (state == SIZE_LOW) size_low <= bytes;
    if (takes_word && at == 4'd2) rank_left <= bytes[21:16];
    if (begins) begin
      at <= '0;
      total <= TOTAL_BITS'(1);
      is_open <= 1'b0;
      is_first_size <= 1'b1;
      is_plane <= 1'b0;
      plane_is_kept <= 1'b0;
      state <= WORDS;
    end
  end

  // Fields.
  always_ff @(posedge clk) begin
    if (takes_word) begin
      unique case (at)
        4'd1: begin
          dims <= bytes[25:24];
          is_bad <= is_bad || bytes[23:17] != '0 || bytes[31:26] != '0 || bytes[25:24] == '0;
          is_beyond <= is_beyond || bytes[16];
        end
        4'd2: begin
          has_fill <= bytes[0];
          is_bad <= is_bad || bytes[7:1] != '0 || bytes[15:8] > 8'd4 || bytes[31:24] != '0;
        end
        4'd3: is_bad <= is_bad || bytes != 32'd1;
        4'd4: begin
          max_values <= bytes[24:0];
          is_bad <= is_bad || bytes < 32'(MIN_BLOCK) || bytes > 32'(MAX_BLOCK);
          is_beyond <= is_beyond || bytes > 32'(1 << BLOCK_BITS);
        end
        4'd5: begin
          line <= bytes;
          line_last <= LINE_BITS'(bytes - 32'd1);
          is_bad <= is_bad || (bytes == '0) != (dims == 2'd1);
          is_beyond <= is_beyond || bytes > 32'(1 << LINE_BITS);
        end
        4'd6: begin
          lines <= bytes;
          plane_last <= 16'(bytes - 32'd1);
          is_bad <= is_bad || (bytes == '0) != (dims != 2'd3);
          is_beyond <= is_beyond || bytes > 32'(MAX_LINES);
        end
        4'd7: is_bad <= is_bad || bytes != '0;
        4'd10: fill_low <= bytes;
        4'd11: begin
          fill <= {bytes[30:0], fill_low} == '0 ? {bytes[31], 31'd0} : fill_rounded;
          if (fill_exponent > 11'd1150) has_fill <= 1'b0;
          is_beyond <= is_beyond || (has_fill && fill_exponent < 11'd897 && {bytes[30:0], fill_low} != '0);
        end
        default: ;
      endcase
    end
    if (takes_size) is_bad <= is_bad || bytes[31:TOTAL_BITS-32] != '0 || (size_is_open && !is_first_size);
    if (runs && is_multiplied && !is_plane) is_bad <= is_bad || product_is_beyond;
    if (begins) begin
      is_bad <= 1'b0;
      is_beyond <= 1'b0;
    end
  end
endmodule
