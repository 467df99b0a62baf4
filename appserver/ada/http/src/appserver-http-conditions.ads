--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Evaluates the conditions of requests (RFC 9110, section 13), which depend on whether the client
--  has the current version of a resource.

pragma Ada_2022;

with Appserver.HTTP.Dates;

package Appserver.HTTP.Conditions is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Verdict is (Go_On, Is_Not_Modified, Has_Failed);
   --  The action that the conditions require. Go_On: process the request normally; Is_Not_Modified:
   --  respond with 304; Has_Failed: respond with 412.

   function Verdict_On
     (Request  : HTTP.Request;
      Tag      : String;
      Modified : Dates.Common_Time) return Verdict
     with Pre => Is_Strong_Tag (Tag)
                 or else raise Misuse_Error with "the tag is not a strong entity tag";
   --  Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since, with the
   --  precedence of section 13.2.2. Tag is the entity tag of the current version of the resource,
   --  and Modified its modification time.

   function Range_Holds (Request : HTTP.Request; Tag : String) return Boolean
     with Pre => Is_Strong_Tag (Tag)
                 or else raise Misuse_Error with "the tag is not a strong entity tag";
   --  Returns True if If-Range is missing or matches Tag, so a range may be sent. A date never
   --  matches, since two versions within one second have the same date (sections 8.8.2.2 and
   --  13.1.5).

   function Is_Strong_Tag (Text : String) return Boolean is
     (Text'Length >= 2
      and then Text (Text'First) = '"' and then Text (Text'Last) = '"'
      and then (for all C of Text (Text'First + 1 .. Text'Last - 1) =>
                   C in '!' | '#' .. '~' | Character'Val (16#80#) .. Character'Last));
   --  Returns True if Text is an entity tag without the prefix W/ (section 8.8.3)

end Appserver.HTTP.Conditions;
