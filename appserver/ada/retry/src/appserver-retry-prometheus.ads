--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Formats statistics in Prometheus's text format, version 0.0.4.

pragma Ada_2022;

with Ada.Strings.Unbounded;

package Appserver.Retry.Prometheus is

   type Named_Statistics is record
      Name       : Ada.Strings.Unbounded.Unbounded_String;
      --  The value of the label "policy", in UTF-8
      Statistics : Retry_Statistics;
   end record;

   type Statistics_List is array (Positive range <>) of Named_Statistics;

   function Text (List : Statistics_List) return SQL.UTF_8_String;
   --  Formats statistics in Prometheus's text format. Pass all statistics of a page to one call,
   --  since each metric may occur only once on a page.
   --  @param List the statistics and their names
   --  @return the text

end Appserver.Retry.Prometheus;
