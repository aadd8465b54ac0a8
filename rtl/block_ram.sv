// SPDX-License-Identifier: BSD-3-Clause
// A block memory with one port to write and one to read. What is read stands there LATENCY cycles after its address:
// 2 with the register behind the memory, without which no block memory is fast, or 1. Reading what is written in the
// same cycle gives anything: promising the old value costs a table for each bit, behind the memory.
module block_ram #(
    parameter  int WIDTH = 32,
    parameter  int DEPTH = 512,
    parameter  int LATENCY = 2,
    localparam int ADDR_BITS = $clog2(DEPTH)
) (
    input  logic                 clk,
    input  logic                 write,
    input  logic [ADDR_BITS-1:0] write_addr,
    input  logic [    WIDTH-1:0] write_data,
    input  logic [ADDR_BITS-1:0] read_addr,
    output logic [    WIDTH-1:0] read_data
);
  (* ram_style = "block", no_rw_check *) logic [WIDTH-1:0] memory[DEPTH];
  logic [WIDTH-1:0] fetched;

  always_ff @(posedge clk) begin
    if (write) memory[write_addr] <= write_data;
    fetched <= memory[read_addr];
`ifdef VERILATOR
    // Tests see that nothing relies on it.
    if (write && write_addr == read_addr) fetched <= ~memory[read_addr];
`endif
  end

  generate
    if (LATENCY == 1) begin : without_register
      assign read_data = fetched;
    end else begin : with_register
      always_ff @(posedge clk) read_data <= fetched;
    end
  endgenerate
endmodule
