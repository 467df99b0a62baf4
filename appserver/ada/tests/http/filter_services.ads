--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Filters and services that record their calls

with Ada.Strings.Unbounded;
with Appserver.HTTP.Filters;
with Appserver.HTTP.Services;

package Filter_Services is

   use Appserver;

   Notes : Ada.Strings.Unbounded.Unbounded_String;

   type Noting (Name : Character; Next : not null HTTP.Services.Service_Reference) is
     limited new HTTP.Filters.Filter (Next => Next) with null record;
   --  A filter that responds to /stop/NAME with 403, and raises an exception for /raise/before and
   --  /raise/after

   overriding procedure Before
     (Self         : in out Noting;
      Request      : HTTP.Request;
      Response     : in out HTTP.Response;
      Has_Response : in out Boolean);
   overriding procedure After
     (Self : in out Noting; Request : HTTP.Request; Response : in out HTTP.Response);

   type Catching is limited new HTTP.Filters.Filter with null record;
   --  A filter that handles the exceptions of the next service

   overriding function Respond
     (Self : in out Catching; Request : HTTP.Request) return HTTP.Response;

   type Receiver is limited new HTTP.Services.Content_Receiver with null record;

   overriding procedure Receive
     (Self : in out Receiver; Bytes : String; Wants_More : in out Boolean);
   overriding function Respond
     (Self : in out Receiver; Request : HTTP.Request) return HTTP.Response;

   type Plain is limited new HTTP.Services.Service with null record;

   overriding function Respond
     (Self : in out Plain; Request : HTTP.Request) return HTTP.Response;

   type Planning is limited new HTTP.Services.Content_Service with null record;

   overriding function Policy_For
     (Self : in out Planning; Request : HTTP.Request) return HTTP.Services.Content_Policy;
   --  Returns the policies for /stream and /refused. The content of other requests is buffered.
   overriding function Respond
     (Self : in out Planning; Request : HTTP.Request) return HTTP.Response;

   type Router (Next : not null HTTP.Services.Service_Reference) is
     limited new HTTP.Services.Content_Service with null record;
   --  A service that passes requests to the next service, but buffers all content without calling
   --  the policy of the next service

   overriding function Policy_For
     (Self : in out Router; Request : HTTP.Request) return HTTP.Services.Content_Policy is
     (HTTP.Services.Buffer);
   overriding function Respond
     (Self : in out Router; Request : HTTP.Request) return HTTP.Response is
     (Self.Next.Respond (Request));

   Plain_Service  : aliased Plain;
   Policy_Service : aliased Planning;
   Inner_Plain    : aliased Noting ('b', Plain_Service'Access);
   Outer_Plain    : aliased Noting ('a', Inner_Plain'Access);
   Inner          : aliased Noting ('b', Policy_Service'Access);
   Outer          : aliased Noting ('a', Inner'Access);
   Routed         : aliased Router (Inner_Plain'Access);
   Outer_Routed   : aliased Noting ('a', Routed'Access);
   Caught         : aliased Catching (Inner_Plain'Access);

end Filter_Services;
