--  SPDX-License-Identifier: Apache-2.0
--
--  The keys that the operations of a batch access: operation k accesses the key of input k.

with Benchlab.Seeded_Sequences;
with Interfaces;

package Traces is

   use Benchlab.Seeded_Sequences;
   use Interfaces;

   type Cache_Access is record
      Key   : Unsigned_64;
      Reads : Boolean;
      --  True if the operation is a get, False if it is a put
   end record;

   type Trace is array (Input_Index) of Cache_Access;

   Zipf_Keys : constant := 10_000;

   subtype Percentage is Unsigned_64 range 0 .. 100;

   function Zipf (Inputs : Sequence; Reads : Percentage) return Trace;
   --  Returns a trace whose keys are less than Zipf_Keys and distributed by Zipf's law

   Max_Requests : constant := 50_000;

   type Request_List is array (Unsigned_64 range 0 .. Max_Requests - 1) of Unsigned_64;

   function Requests (Inputs : Sequence; Name : String) return Request_List;
   --  Returns the keys of the trace that is called Name, for the case "evict". Raises
   --  Unsupported_Error if there is no such trace.

   function Uniform (Inputs : Sequence; Keys : Unsigned_64; Reads : Boolean) return Trace;
   --  Returns a trace whose keys are less than Keys and uniformly distributed

end Traces;
