// SPDX-License-Identifier: BSD-3-Clause
// How often each symbol occurs in a block, in two banks: while one counts, the other is read and cleared.
module histogram #(
  parameter int COUNT_BITS = 13
) (
  input  logic        clk,
  input  logic        in_valid,
  input  logic        in_bank,
  input  logic [9:0]  in_symbol,
  // The bank that does not count; both, with clear_all. Clears what was read: the address of a cycle is
  // cleared in the next one.
  input  logic        read,
  input  logic        clear_all,
  input  logic        read_bank,
  input  logic [9:0]  read_addr,
  output logic [COUNT_BITS-1:0] read_data  // one cycle later
);
  // A count is read, waits a cycle, has what came since added, and is written. Until then three symbols
  // after it do not see it: each adds one for every equal one among the three before it.
  logic [4:1] valid;
  logic [10:0] at1, at2, at3, at4;  // bank and symbol
  logic [COUNT_BITS-1:0] read0, read1, count2, count3;
  logic [2:0] more2;
  logic       clears1;
  logic [9:0] clear_at1;
  logic       clear_bank1, clear_all1;
  logic       read_bank1;
  logic [COUNT_BITS-1:0] bank0 [0:1023];
  logic [COUNT_BITS-1:0] bank1 [0:1023];
  logic       write0, write1;
  logic [9:0] write_at0, write_at1;
  logic [COUNT_BITS-1:0] write_data0, write_data1;

  assign read_data = read_bank1 ? read1 : read0;
  assign write0 = (valid[3] & ~at3[10]) | (clears1 & (clear_all1 | ~clear_bank1));
  assign write1 = (valid[3] & at3[10]) | (clears1 & (clear_all1 | clear_bank1));
  assign write_at0 = valid[3] & ~at3[10] ? at3[9:0] : clear_at1;
  assign write_at1 = valid[3] & at3[10] ? at3[9:0] : clear_at1;
  assign write_data0 = valid[3] & ~at3[10] ? count3 : '0;
  assign write_data1 = valid[3] & at3[10] ? count3 : '0;

  always_ff @(posedge clk) begin
    read0 <= bank0[in_valid & ~in_bank ? in_symbol : read_addr];
    read1 <= bank1[in_valid & in_bank ? in_symbol : read_addr];
    if (write0) bank0[write_at0] <= write_data0;
    if (write1) bank1[write_at1] <= write_data1;

    valid <= {valid[3:1], in_valid};
    at1 <= {in_bank, in_symbol};
    at2 <= at1;
    at3 <= at2;
    at4 <= at3;
    count2 <= at1[10] ? read1 : read0;
    more2 <= 3'd1 + {2'b0, valid[2] & at1 == at2} + {2'b0, valid[3] & at1 == at3} +
             {2'b0, valid[4] & at1 == at4};
    count3 <= count2 + COUNT_BITS'(more2);

    read_bank1 <= read_bank;
    clears1 <= read;
    clear_at1 <= read_addr;
    clear_bank1 <= read_bank;
    clear_all1 <= clear_all;
  end
endmodule
