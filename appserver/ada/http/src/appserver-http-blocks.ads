--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A fixed amount of memory for slow clients. It stores the beginning of a request that arrives
--  slowly, or the end of a response that the client reads slowly. Other connections do not use this
--  memory.

pragma Ada_2022;

private package Appserver.HTTP.Blocks is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   Block_Size : constant := 256;

   type Block_Count is range 0 .. 2 ** 23;

   type Chain is private;
   --  A sequence of bytes, stored in a chain of blocks from a pool

   Empty : constant Chain;

   type Pool (Count : Block_Count) is limited private;

   function Length (Self : Chain) return Natural;

   procedure Put
     (Self : in out Pool; Bytes : String; To : in out Chain; Has_Room : out Boolean);
   --  Appends Bytes. If there is not enough room for all of them, appends nothing and sets Has_Room
   --  to False.

   procedure Take (Self : in out Pool; From : in out Chain; Bytes : out String)
     with Pre => Bytes'Length = Length (From), Post => Length (From) = 0;
   --  Copies all bytes to Bytes, removes them from the chain, and frees the chain's blocks

   procedure Drop (Self : in out Pool; From : in out Chain)
     with Post => Length (From) = 0;

private

   No_Block : constant Block_Count := 0;

   type Chain is record
      First, Last : Block_Count := No_Block;
      Length      : Natural     := 0;
   end record;

   Empty : constant Chain := (others => <>);

   function Length (Self : Chain) return Natural is (Self.Length);

   subtype Block is String (1 .. Block_Size);

   --  Blocks have no initial values, so unused memory is never written and does not become resident

   type Block_Array is array (Block_Count range <>) of Block;
   type Link_Array is array (Block_Count range <>) of Block_Count;

   type Pool (Count : Block_Count) is limited record
      Used  : Block_Count := 0;
      --  The highest block number that has ever been in use
      Free  : Block_Count := No_Block;
      --  The head of the list of freed blocks
      Spare : Block_Count := 0;
      --  The number of freed blocks
      Links : Link_Array (1 .. Count);
      Room  : Block_Array (1 .. Count);
   end record;

end Appserver.HTTP.Blocks;
