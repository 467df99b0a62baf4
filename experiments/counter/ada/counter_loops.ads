--  SPDX-License-Identifier: Apache-2.0
--
--  The loops for one kind of counter.

with Benchlab;
with Interfaces;
with Schemes;

generic
   type Single_Counter is limited private;
   with procedure Increment_Once (Self : in out Single_Counter);
   with function Single_Value (Self : Single_Counter) return Interfaces.Integer_64;
   Safe : Boolean;
package Counter_Loops is

   use Benchlab;

   type Counter is limited new Schemes.Shared_Counter with record
      Total : Single_Counter;
   end record;

   overriding function Is_Safe (Self : Counter) return Boolean is (Safe);

   overriding function Value (Self : Counter) return Interfaces.Integer_64 is
     (Single_Value (Self.Total));

   overriding procedure Increment (Self : in out Counter; Times : Operation_Count)
     with No_Inline;

   overriding procedure Increment_And_Read
     (Self : in out Counter; Times : Operation_Count; Backwards : out Check_Value);

end Counter_Loops;
