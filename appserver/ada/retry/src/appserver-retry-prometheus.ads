--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writes statistics in Prometheus's text format, version 0.0.4.

pragma Ada_2022;

with Ada.Strings.Unbounded;

package Appserver.Retry.Prometheus is

   type Named_Statistics is record
      Name       : Ada.Strings.Unbounded.Unbounded_String;
      --  In UTF-8; becomes the label "policy"
      Statistics : Retry_Statistics;
   end record;

   type Statistics_List is array (Positive range <>) of Named_Statistics;

   function Text (List : Statistics_List) return SQL.UTF_8_String;
   --  Writes all statistics as one text: a page of metrics may have each metric only once.
   --  @param List the statistics and their names
   --  @return the text

end Appserver.Retry.Prometheus;
