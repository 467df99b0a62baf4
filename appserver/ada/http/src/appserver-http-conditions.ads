--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Conditional requests (RFC 9110, section 13): checks whether the client's version of a resource
--  is the current one.

pragma Ada_2022;

with Appserver.HTTP.Dates;

package Appserver.HTTP.Conditions is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Verdict is (Go_On, Is_Not_Modified, Has_Failed);
   --  Is_Not_Modified: 304. Has_Failed: 412.

   function Verdict_On
     (Request  : HTTP.Request;
      Tag      : String;
      Modified : Dates.Common_Time) return Verdict
     with Pre => Is_Strong_Tag (Tag) or else raise Misuse_Error with "the tag is not strong";
   --  By If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since, with the precedence of
   --  section 13.2.2. Tag and Modified are those of the current version.

   function Range_Holds (Request : HTTP.Request; Tag : String) return Boolean
     with Pre => Is_Strong_Tag (Tag) or else raise Misuse_Error with "the tag is not strong";
   --  True if a range may be sent, by If-Range or because there is no such field. A date never
   --  matches: two versions within one second have the same date (sections 8.8.2.2 and 13.1.5).

   function Is_Strong_Tag (Text : String) return Boolean is
     (Text'Length >= 2
      and then Text (Text'First) = '"' and then Text (Text'Last) = '"'
      and then (for all C of Text (Text'First + 1 .. Text'Last - 1) =>
                   C in '!' | '#' .. '~' | Character'Val (16#80#) .. Character'Last));
   --  An entity tag without W/ (section 8.8.3)

end Appserver.HTTP.Conditions;
