<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Site\Blog;

/** Chooses the page for a request. */
final class Controller
{
    private const SHOWN = 8;

    public function __construct(private PostRepository $posts, private View $view)
    {
    }

    public function handle(Request $request): Response
    {
        if (!in_array($request->method, ['GET', 'HEAD'], true)) {
            return new Response('The blog is only read.', 405, ['Allow' => 'GET, HEAD']);
        }
        $all = $this->posts->all();
        $values = ['archive' => new Archive($all), 'latest' => array_slice($all, 0, 5)];
        if ($request->post !== null) {
            $post = $this->posts->find($request->post);
            return $post === null
                ? new Response($this->view->page('missing', $values + ['title' => 'Not found']), 404)
                : new Response($this->view->page('post', $values + ['title' => $post->title, 'post' => $post]));
        }
        $tag = $request->tag;
        $found = $tag === null ? $all : array_filter($all, static fn (Post $p): bool => in_array($tag, $p->tags, true));
        $values += ['title' => $tag ?? 'All posts', 'posts' => array_slice($found, 0, self::SHOWN)];
        return new Response($this->view->page('list', $values));
    }
}
