--  SPDX-License-Identifier: Apache-2.0
--
--  Sets of the numbers of operations in a batch.

with Ada.Containers.Ordered_Sets;

package Benchlab.Operation_Sets is

   package Sets is new Ada.Containers.Ordered_Sets (Operation_Number);

   subtype Operation_Set is Sets.Set;

   function Image (Self : Operation_Set) return String;
   --  Formats a set in ascending order, with consecutive numbers as a range, such as "3,17-19";
   --  "none" for the empty set

end Benchlab.Operation_Sets;
