// SPDX-License-Identifier: BSD-3-Clause
// A queue in block memory. What it holds is read ahead into a few registers, so that a word leaves each cycle
// although the memory answers two cycles later.
module word_fifo #(
    parameter  int WIDTH = 32,
    parameter  int DEPTH_BITS = 9,
    parameter  int SPARE = 0       // has_room goes while there is still place for so many words
) (
    input  logic             clk,
    input  logic             rst,
    output logic             has_room,
    input  logic             in_valid,
    input  logic [WIDTH-1:0] in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data
);
  localparam int AHEAD = 8;
  localparam int A = $clog2(AHEAD) + 1;
  logic [DEPTH_BITS:0] used;  // words from their coming until they are read
  logic [DEPTH_BITS-1:0] in_at, out_at;
  logic [A-1:0] ahead;  // words that have been read and have not left
  logic [1:0] is_read;
  logic reads, gives;
  logic [WIDTH-1:0] read_data;
  // A word is in the memory a cycle after it came.
  logic is_new, has_words;
  assign has_words = used > (DEPTH_BITS + 1)'(is_new);
  assign reads = has_words && ahead < A'(AHEAD);
  assign gives = out_valid && out_ready;
  block_ram #(
      .WIDTH(WIDTH),
      .DEPTH(1 << DEPTH_BITS)
  ) words (
      .clk,
      .write(in_valid),
      .write_addr(in_at),
      .write_data(in_data),
      .read_addr(out_at),
      .read_data
  );
  /* verilator lint_off UNUSEDSIGNAL */
  logic queue_has_room;  // always, when a word comes
  /* verilator lint_on UNUSEDSIGNAL */
  symbol_queue #(
      .WIDTH(WIDTH),
      .DEPTH(AHEAD)
  ) next (
      .clk,
      .rst,
      .in_valid(is_read[1]),
      .in_ready(queue_has_room),
      .in_data(read_data),
      .out_valid,
      .out_ready,
      .out_data
  );
  always_ff @(posedge clk) begin
    is_new <= in_valid;
    is_read <= {is_read[0], reads};
    if (in_valid) in_at <= in_at + DEPTH_BITS'(1);
    if (reads) out_at <= out_at + DEPTH_BITS'(1);
    used <= used + (DEPTH_BITS + 1)'(in_valid) - (DEPTH_BITS + 1)'(reads);
    ahead <= ahead + A'(reads) - A'(gives);
    // Another word may be on its way when this is seen.
    has_room <= used < (DEPTH_BITS + 1)'((1 << DEPTH_BITS) - 2 - SPARE);
    if (rst) begin
      in_at <= '0;
      out_at <= '0;
      used <= '0;
      ahead <= '0;
      is_new <= 1'b0;
      is_read <= '0;
      has_room <= 1'b0;
    end
  end
endmodule
