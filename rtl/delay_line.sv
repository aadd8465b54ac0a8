// SPDX-License-Identifier: BSD-3-Clause
// A value CYCLES cycles later, in a block memory, which costs no tables.
module delay_line #(
    parameter int WIDTH = 32,
    parameter int CYCLES = 17  // 4 to 512
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [WIDTH-1:0] in,
    output logic [WIDTH-1:0] out
);
  // Written a cycle behind the reading, so that it is read PLACES - 1 cycles later; block_ram takes two more.
  localparam int PLACES = CYCLES - 1;
  localparam int BITS = $clog2(PLACES);
  logic [BITS-1:0] at, written_at;
  always_ff @(posedge clk) begin
    at <= rst || at == BITS'(PLACES - 1) ? '0 : at + BITS'(1);
    written_at <= at;
  end
  block_ram #(
      .WIDTH(WIDTH),
      .DEPTH(1 << BITS)
  ) places (
      .clk,
      .write(1'b1),
      .write_addr(written_at),
      .write_data(in),
      .read_addr(at),
      .read_data(out)
  );
endmodule
