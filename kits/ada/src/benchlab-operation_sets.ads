--  SPDX-License-Identifier: Apache-2.0
--
--  Some of the operations of a batch, by their numbers.

with Ada.Containers.Ordered_Sets;

package Benchlab.Operation_Sets is

   package Sets is new Ada.Containers.Ordered_Sets (Operation_Number);

   subtype Operation_Set is Sets.Set;

   function Image (Self : Operation_Set) return String;
   --  Such as "3,17-19": ascending, consecutive numbers as a range; or "none"

end Benchlab.Operation_Sets;
