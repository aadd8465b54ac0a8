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
  output logic [COUNT_BITS-1:0] read_data  // two cycles later
);
  // 1 and 2: a count is read; 3: it waits; 4: what came since is added; 5: it is written. The three symbols after it do
  // not see it: each adds one for every equal one among the three before it. The fourth reads what is just being
  // written, and takes the count itself.
  logic [5:1] valid;
  logic [10:0] at1, at2, at3, at4;  // bank and symbol
  logic [4:1] equals2;              // the symbols before it
  logic [2:0] more3;
  logic [COUNT_BITS-1:0] read0, read1, count3, count4, count5, count6;
  logic       clears1;
  logic [9:0] clear_at1;
  logic       clear_bank1, clear_all1;
  logic [2:1] read_bank_at;
  logic       write0, write1;

  // A comparison in two steps, three bits in a table and then their results.
  logic [10:0] now;
  logic [4*11-1:0] earlier;
  assign now = {in_bank, in_symbol};
  assign earlier = {at4, at3, at2, at1};
  genvar b;
  generate
    for (b = 1; b <= 4; b = b + 1) begin : distance
      logic [3:0] parts1;
      logic valid1;
      always_ff @(posedge clk) begin
        valid1 <= valid[b];
        parts1[0] <= now[2:0] == earlier[11*b-11+:3];
        parts1[1] <= now[5:3] == earlier[11*b-8+:3];
        parts1[2] <= now[8:6] == earlier[11*b-5+:3];
        parts1[3] <= now[10:9] == earlier[11*b-2+:2];
        equals2[b] <= valid1 & &parts1;
      end
    end
  endgenerate

  assign read_data = read_bank_at[2] ? read1 : read0;
  assign write0 = valid[4] & ~at4[10];
  assign write1 = valid[4] & at4[10];
  block_ram #(.WIDTH(COUNT_BITS), .DEPTH(1024)) bank0 (
    .clk(clk), .write(write0 | (clears1 & (clear_all1 | ~clear_bank1))),
    .write_addr(write0 ? at4[9:0] : clear_at1), .write_data(write0 ? count4 : '0),
    .read_addr(in_valid & ~in_bank ? in_symbol : read_addr), .read_data(read0));
  block_ram #(.WIDTH(COUNT_BITS), .DEPTH(1024)) bank1 (
    .clk(clk), .write(write1 | (clears1 & (clear_all1 | clear_bank1))),
    .write_addr(write1 ? at4[9:0] : clear_at1), .write_data(write1 ? count4 : '0),
    .read_addr(in_valid & in_bank ? in_symbol : read_addr), .read_data(read1));

  always_ff @(posedge clk) begin
    valid <= {valid[4:1], in_valid};
    at1 <= {in_bank, in_symbol};
    at2 <= at1;
    at3 <= at2;
    at4 <= at3;
    more3 <= 3'd1 + {2'b0, equals2[1]} + {2'b0, equals2[2]} + {2'b0, equals2[3]};
    count3 <= equals2[4] ? count6 : at2[10] ? read1 : read0;
    count4 <= count3 + COUNT_BITS'(more3);
    count5 <= count4;
    count6 <= count5;

    clears1 <= read;
    clear_at1 <= read_addr;
    clear_bank1 <= read_bank;
    clear_all1 <= clear_all;
    read_bank_at <= {read_bank_at[1], read_bank};
  end
endmodule
