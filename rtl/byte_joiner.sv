// SPDX-License-Identifier: BSD-3-Clause
// Pieces of 1 to BYTES bytes to words of BYTES, the first byte lowest; the word leaves four cycles after the
// piece that fills it. After the last piece comes a word with what is left, if anything is, and then one idle
// cycle at least has to come in. Moves only in cycles with `enable`.
module byte_joiner #(
  parameter int BYTES = 16  // a power of 2, 8 or more
) (
  input  logic        clk,
  input  logic        rst,
  input  logic        enable,
  input  logic        in_valid,
  input  logic        in_last,
  input  logic [$clog2(BYTES):0] in_bytes,
  input  logic [8*BYTES-1:0] in_data,  // above its bytes anything
  output logic        out_valid,
  output logic        out_last,
  output logic [$clog2(BYTES):0] out_bytes,
  output logic [8*BYTES-1:0] out_data
);
  localparam int B = $clog2(BYTES);

  // 1: where the piece goes.
  logic        valid1, last1, fills1, begins1;
  logic [B-1:0] offset1, end1;
  logic [B:0]  end_next;
  logic [8*BYTES-1:0] data1;
  integer i;
  assign end_next = {1'b0, begins1 ? {B{1'b0}} : end1} + in_bytes;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid1 <= 1'b0;
      begins1 <= 1'b1;
    end else if (enable) begin
      valid1 <= in_valid;
      if (in_valid) begin
        last1 <= in_last;
        begins1 <= in_last;
        offset1 <= begins1 ? {B{1'b0}} : end1;
        end1 <= end_next[B-1:0];
        fills1 <= end_next[B];
        for (i = 0; i < BYTES; i = i + 1) data1[8*i+:8] <= (B+1)'(i) < in_bytes ? in_data[8*i+:8] : 8'd0;
      end
    end
  end

  // 2, 3: shifted, by bytes below 4 and by fours.
  logic        valid2, last2, fills2, valid3, last3, fills3;
  logic [B-1:2] offset2;
  logic [B-1:0] end2, end3;
  logic [8*BYTES+23:0] data2;
  logic [16*BYTES-1:0] data3;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid2 <= 1'b0;
      valid3 <= 1'b0;
    end else if (enable) begin
      valid2 <= valid1;
      valid3 <= valid2;
    end
    if (enable) begin
      last2 <= last1;
      fills2 <= fills1;
      offset2 <= offset1[B-1:2];
      end2 <= end1;
      data2 <= {24'b0, data1} << {offset1[1:0], 3'b0};

      last3 <= last2;
      fills3 <= fills2;
      end3 <= end2;
      data3 <= {{(8*BYTES-24){1'b0}}, data2} << {offset2, 5'b0};
    end
  end

  // 4: gathered.
  logic [8*BYTES-1:0] gathered4, joined;
  logic        rest4;
  logic [B-1:0] end4;
  assign joined = gathered4 | data3[8*BYTES-1:0];
  always_ff @(posedge clk) begin
    if (rst) begin
      out_valid <= 1'b0;
      rest4 <= 1'b0;
      gathered4 <= '0;
    end else if (enable) begin
      out_valid <= rest4 | (valid3 & fills3);
      rest4 <= valid3 & last3 & |end3;
      if (rest4) gathered4 <= '0;
      else if (valid3) gathered4 <= fills3 ? data3[16*BYTES-1:8*BYTES] : joined;
    end
    if (enable) begin
      out_last <= rest4 | (last3 & ~|end3);
      out_bytes <= rest4 ? {1'b0, end4} : (B+1)'(BYTES);
      out_data <= rest4 ? gathered4 : joined;
      end4 <= end3;
    end
  end
endmodule
