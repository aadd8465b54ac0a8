// SPDX-License-Identifier: BSD-3-Clause
// A block memory that shows what is read in one cycle only, a cycle after its address, and zeros in every other: the
// memory's own reset does that, and several of them are joined by OR, where choosing among them would take a table more
// for every two. Reading what is written in the same cycle gives anything (block_ram.sv).
module gated_ram #(
    parameter  int WIDTH = 32,
    parameter  int DEPTH = 512,
    localparam int ADDR_BITS = $clog2(DEPTH)
) (
    input  logic                 clk,
    input  logic                 write,
    input  logic [ADDR_BITS-1:0] write_addr,
    input  logic [    WIDTH-1:0] write_data,
    input  logic                 enable,      // what is shown moves on
    input  logic                 read,
    input  logic [ADDR_BITS-1:0] read_addr,
    output logic [    WIDTH-1:0] read_data
);
  (* ram_style = "block", no_rw_check *) logic [WIDTH-1:0] memory[DEPTH];

  always_ff @(posedge clk) begin
    if (write) memory[write_addr] <= write_data;
    if (enable) begin
      if (read) read_data <= memory[read_addr];
      else read_data <= '0;
    end
`ifdef VERILATOR
    // Tests see that nothing relies on it.
    if (enable && read && write && write_addr == read_addr) read_data <= ~memory[read_addr];
`endif
  end
endmodule
