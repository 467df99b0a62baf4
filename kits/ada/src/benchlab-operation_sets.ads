--  SPDX-License-Identifier: Apache-2.0
--
--  Some of the operations of a batch, by their numbers.

with Ada.Containers.Ordered_Sets;

package Benchlab.Operation_Sets is

   package Sets is new Ada.Containers.Ordered_Sets (Operation_Number);

   subtype Operation_Set is Sets.Set;

   function Image (Self : Operation_Set) return String;
   --  As in "3,17-19": ascending, those that follow each other as a range; or "none"

end Benchlab.Operation_Sets;
