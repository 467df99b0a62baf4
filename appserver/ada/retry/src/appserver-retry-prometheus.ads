--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The statistics of meters in Prometheus's text format, version 0.0.4.

pragma Ada_2022;

with Ada.Strings.Unbounded;

package Appserver.Retry.Prometheus is

   type Named_Figures is record
      Name  : Ada.Strings.Unbounded.Unbounded_String;
      --  In UTF-8; becomes the label "policy"
      Usage : Figures;
   end record;

   type Figures_List is array (Positive range <>) of Named_Figures;

   function Text (List : Figures_List) return SQL.UTF_8_String;
   --  One text for all meters: a page of metrics may have each metric only once

end Appserver.Retry.Prometheus;
